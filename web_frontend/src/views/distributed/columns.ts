// The columns of the view's tables: collectives one by one, by kind and size, ranks, steps.
import type {
  Distributed,
  DistributedCollective,
  DistributedKind,
  DistributedRank,
  DistributedStep,
} from '../../api/types';
import { measure, type Measure } from '../../lib/columns';
import { column as scale_of, count, kNone } from '../../lib/format';
import type { Column } from '../../lib/table';
import { elements_text } from './distributed';

const kGiga = 1e9;

function text<Row>(
  id: string,
  title: string,
  width: number,
  rank: number,
  value: (row: Row) => string | undefined,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  return {
    id,
    title,
    kind: 'text',
    width,
    rank,
    value,
    text: (row) => value(row) ?? kNone,
    hover: value,
    ...more,
  };
}

function whole<Row>(
  id: string,
  title: string,
  width: number,
  rank: number,
  value: (row: Row) => number | undefined,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  return {
    id,
    title,
    kind: 'number',
    width,
    rank,
    value,
    text: (row) => {
      const number = value(row);
      return number === undefined ? kNone : count(number);
    },
    ...more,
  };
}

/** A measure over magnitudes: its unit and decimals are those of the middle value, so that small messages beside one large
    one still show. */
function spread_measure<Row>(rows: readonly Row[], spec: Measure<Row>): Column<Row> {
  const values = rows
    .map((row) => spec.value(row))
    .filter((value) => value !== undefined && value > 0)
    .sort((a, b) => (a ?? 0) - (b ?? 0));
  const scale = scale_of([values[values.length >> 1]], spec.family);
  return { ...measure(rows, spec), unit: scale.unit, text: (row) => scale(spec.value(row)) };
}

/** GB/s: 10⁹ bytes a second, as NCCL-tests prints it. */
function bandwidth<Row>(
  rows: readonly Row[],
  spec: Omit<Measure<Row>, 'family' | 'value'>,
  value: (row: Row) => number | undefined,
): Column<Row> {
  const giga = (row: Row): number | undefined => {
    const bytes = value(row);
    return bytes === undefined ? undefined : bytes / kGiga;
  };
  return {
    ...spread_measure<Row>(rows, { ...spec, family: 'plain', value: giga }),
    unit: 'GB/s',
    csv: `${spec.title} (GB/s)`,
  };
}

const kBus =
  'Bytes over the slowest link: algorithm bandwidth by the factor of NCCL-tests for this collective';

export function collective_columns(
  rows: readonly DistributedCollective[],
  axis: string,
): Column<DistributedCollective>[] {
  type Row = DistributedCollective;
  const time = (
    id: string,
    title: string,
    width: number,
    rank: number,
    value: (row: Row) => number,
    help = '',
  ) =>
    measure<Row>(rows, { id, title, family: 'time', width, rank, value, ...(help === '' ? {} : { help }) });
  const alone = rows.every(({ ranks }) => ranks < 2);
  const grouped = new Set(rows.map(({ group }) => group)).size > 1;
  return [
    whole<Row>('number', '#', 52, 0, (row) => row.number),
    text<Row>('op', 'Collective', 116, 1, (row) => row.op, {
      mono: true,
      grow: 1,
      hover: (row) => row.name,
    }),
    ...(grouped ? [text<Row>('group', 'Group', 72, 9, (row) => row.group)] : []),
    whole<Row>('step', 'Step', 56, 14, (row) => row.step),
    {
      ...text<Row>('elements', 'Elements', 148, 10, (row) => elements_text(row, count)),
      hover: (row) =>
        row.least_bytes === row.bytes || row.bytes === undefined
          ? undefined
          : `${count(row.least_bytes ?? 0)} to ${count(row.bytes)} bytes, by rank`,
    },
    spread_measure<Row>(rows, {
      id: 'size',
      title: 'Size',
      family: 'bytes',
      width: 84,
      rank: 5,
      value: (row) => row.bytes,
      help: 'Of the whole buffer: what an all_gather receives, what a reduce_scatter gives; the largest rank',
    }),
    time(
      'transfer',
      alone ? 'Duration' : 'Transfer',
      92,
      2,
      (row) => row.transfer_ns,
      alone ? 'With what it waited for the other ranks' : 'Shortest duration over the ranks',
    ),
    bandwidth<Row>(
      rows,
      {
        id: 'algorithm',
        title: 'Alg.',
        width: 84,
        rank: 7,
        help: alone ? 'Size ÷ duration: at least' : 'Size ÷ transfer',
      },
      (row) => row.algorithm_bytes_per_s,
    ),
    bandwidth<Row>(
      rows,
      { id: 'bus', title: 'Bus', width: 84, rank: 6, help: kBus },
      (row) => row.bus_bytes_per_s,
    ),
    ...(alone
      ? []
      : [
          time(
            'wait',
            'Longest wait',
            112,
            3,
            (row) => row.longest_wait_ns,
            'Of a rank: its duration less the transfer',
          ),
          whole<Row>('last', 'Last rank', 76, 4, (row) => row.last_rank),
        ]),
    {
      ...whole<Row>('ranks', 'Ranks', 64, 13, (row) => row.ranks),
      help: 'Seen on, of the group’s',
      hover: (row) => `${row.ranks} of ${row.group_size}`,
    },
    {
      id: 'entered',
      title: 'When each rank entered',
      unit: axis,
      kind: 'text',
      width: 260,
      grow: 6,
      rank: 8,
      custom: true,
      value: (row) => row.start_ns,
      csv: 'First entered (ns)',
      help: 'Light: waiting. Dark: transfer. One line a rank, one axis for all rows',
    },
  ];
}

export function kind_columns(rows: readonly DistributedKind[]): Column<DistributedKind>[] {
  type Row = DistributedKind;
  return [
    text<Row>('op', 'Collective', 140, 0, (row) => row.op, { mono: true, grow: 1 }),
    text<Row>('group', 'Group', 90, 8, (row) => row.group),
    text<Row>('dtype', 'Type', 90, 9, (row) => row.dtype),
    spread_measure<Row>(rows, {
      id: 'size',
      title: 'Size',
      family: 'bytes',
      rank: 4,
      value: (row) => row.bytes,
    }),
    whole<Row>('calls', 'Calls', 72, 3, (row) => row.calls),
    measure<Row>(rows, {
      id: 'transfer',
      title: 'Transfer',
      family: 'time',
      rank: 1,
      width: 160,
      value: (row) => row.transfer_ns,
      bar: { kind: () => 'comm' },
      help: 'Sum over the calls',
    }),
    measure<Row>(rows, {
      id: 'wait',
      title: 'Wait',
      family: 'time',
      rank: 2,
      width: 160,
      value: (row) => row.wait_ns,
      bar: { kind: () => 'comm' },
      help: 'Sum over the calls and ranks',
    }),
    bandwidth<Row>(rows, { id: 'algorithm', title: 'Alg.', rank: 6 }, (row) => row.algorithm_bytes_per_s),
    bandwidth<Row>(rows, { id: 'bus', title: 'Bus', rank: 5, help: kBus }, (row) => row.bus_bytes_per_s),
  ];
}

export function rank_columns(data: Distributed): Column<DistributedRank>[] {
  type Row = DistributedRank;
  const rows = data.ranks;
  const time = (
    id: string,
    title: string,
    rank: number,
    value: (row: Row) => number | undefined,
    help?: string,
  ) =>
    measure<Row>(rows, {
      id,
      title,
      family: 'time',
      width: 92,
      rank,
      value,
      ...(help === undefined ? {} : { help }),
    });
  return [
    whole<Row>('rank', 'Rank', 60, 0, (row) => row.rank),
    text<Row>('worker', 'Worker', 120, 12, (row) => row.worker, { grow: 1 }),
    text<Row>('trust', 'Trust', 56, 13, (row) => row.trust.grade, { hover: (row) => row.trust.sentence }),
    time('starts', 'Starts at', 3, (row) => row.starts_ns, 'Its step, behind the first rank’s; mean'),
    time('step', 'Step', 4, (row) => row.step_ns, 'Mean, with the device work it launched'),
    time(
      'compute',
      'Compute',
      5,
      (row) => row.computation_ns,
      'Kernels that are no communication, and none beside them',
    ),
    time('overlap', 'Overlap', 6, (row) => row.overlap_ns),
    time('exposed', 'Exposed', 2, (row) => row.exposed_ns, 'Communication without computation'),
    time('other', 'Other', 8, (row) => row.other_ns, 'The rest of the step: its device is idle'),
    ...(rows.some(({ bubble_ns }) => bubble_ns !== undefined)
      ? [
          time(
            'bubble',
            'Bubble',
            7,
            (row) => row.bubble_ns,
            'Pipeline: between the first and last send or receive of a step, without computation',
          ),
        ]
      : []),
    time('wait', 'Waits', 1, (row) => row.wait_ns, 'In collectives, summed'),
    whole<Row>('last', 'Last in', 72, 9, (row) => row.last, { help: 'Collectives that it entered last' }),
    time('caused', 'Caused', 10, (row) => row.caused_wait_ns, 'What the others waited where it came last'),
    time('clock', 'Clock ahead', 11, (row) => row.clock_ahead_ns, 'Taken off, by the collectives'),
  ];
}

export function step_columns(rows: readonly DistributedStep[]): Column<DistributedStep>[] {
  type Row = DistributedStep;
  const time = (id: string, title: string, rank: number, value: (row: Row) => number, help?: string) =>
    measure<Row>(rows, { id, title, family: 'time', rank, value, ...(help === undefined ? {} : { help }) });
  return [
    whole<Row>('index', 'Step', 72, 0, (row) => row.index, { grow: 1 }),
    whole<Row>('ranks', 'Ranks', 72, 9, (row) => row.ranks),
    time('step', 'Length', 2, (row) => row.step_ns, 'Mean over the ranks'),
    time('compute', 'Compute', 3, (row) => row.computation_ns),
    time('overlap', 'Overlap', 4, (row) => row.overlap_ns),
    time('exposed', 'Exposed', 1, (row) => row.exposed_ns),
    time('other', 'Other', 5, (row) => row.other_ns),
    time(
      'spread',
      'Start spread',
      7,
      (row) => row.start_spread_ns,
      'From the first rank’s start to the last one’s',
    ),
    time('wait', 'Wait', 6, (row) => row.wait_ns, 'Summed over the ranks'),
  ];
}
