import { expect, it } from 'vitest';
import { to_csv } from './csv';

it('quotes what needs it and keeps numbers whole', () => {
  const rows = [
    ['aten::add', 123456789012, undefined],
    ['void f<a, b>(int)', 0.25, 'say "hi"'],
    ['two\nlines', NaN, ''],
  ];
  expect(to_csv(['Name', 'Total (ns)', 'Note'], rows)).toBe(
    'Name,Total (ns),Note\r\naten::add,123456789012,\r\n"void f<a, b>(int)",0.25,"say ""hi"""\r\n"two\nlines",,\r\n',
  );
});

it('defuses formulas in names, never in numbers', () => {
  expect(to_csv(['n'], [['=HYPERLINK("x")'], ['@sum'], [-5]])).toBe(
    'n\r\n"\'=HYPERLINK(""x"")"\r\n\'@sum\r\n-5\r\n',
  );
});
