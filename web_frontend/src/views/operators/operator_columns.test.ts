import { describe, expect, it } from 'vitest';
import type { OperatorRow } from '../../api/types';
import { fitting, table_csv } from '../../lib/table';
import { key_of, operator_columns } from './operator_columns';

const row = (name: string, more: Partial<OperatorRow> = {}): OperatorRow => ({
  name,
  calls: 4,
  host_total_ns: 3000,
  host_self_ns: 1000,
  device_total_ns: 8000,
  device_self_ns: 6000,
  ...more,
});
const rows = [
  row('aten::mm', { tensor_cores: 'yes' }),
  row('(no launch)', { host_total_ns: 0, host_self_ns: 0, device_self_ns: 2000 }),
];
const all = { kind: 'op', group: 'name', bars: 'device', has_device: true } as const;

describe('operator columns', () => {
  it('share what the bars show', () => {
    const columns = operator_columns(rows, all);
    const share = columns.find(({ id }) => id === 'share')!;
    expect(rows.map((one) => share.text?.(one))).toEqual(['75.0', '25.0']);
    const host = operator_columns(rows, { ...all, bars: 'host' }).find(({ id }) => id === 'share')!;
    expect(host.text?.(rows[0]!)).toBe('100.0');
  });

  it('hatch what no operator owns', () => {
    const self = operator_columns(rows, all).find(({ id }) => id === 'device_self')!;
    expect(rows.map((one) => self.bar?.(one))).toEqual([
      { share: 1, kind: 'op' },
      { share: 1 / 3, kind: 'other' },
    ]);
  });

  it('leave the device out where there is none, unless asked for', () => {
    const columns = operator_columns(rows, { ...all, bars: 'host', has_device: false });
    const usual = fitting(columns, undefined, 5000).map(({ id }) => id);
    expect(usual).toEqual(['name', 'host_self', 'share', 'host_total', 'calls', 'host_mean']);
    expect(fitting(columns, ['name', 'device_self'], 5000)).toHaveLength(2);
  });

  it('export nanoseconds', () => {
    const columns = fitting(
      operator_columns(rows, all),
      ['name', 'device_self', 'calls', 'device_mean'],
      5000,
    );
    expect(table_csv(columns, rows.slice(0, 1))).toBe(
      'Operator,Device self (ns),Calls,Mean device (ns)\r\naten::mm,6000,4,2000\r\n',
    );
  });
});

it('rows are told apart by what they are grouped by', () => {
  const shaped = row('aten::mm', { input_shapes: '[[2,3]]', stack: ['a.py(1): f', 'b.py(2): g'] });
  expect(key_of(shaped, 'name')).toBe('aten::mm');
  expect(key_of(shaped, 'shape')).toBe('aten::mm [[2,3]]');
  expect(key_of(shaped, 'stack')).toBe('aten::mm a.py(1): f\nb.py(2): g');
});
