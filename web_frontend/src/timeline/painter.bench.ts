// What a frame costs the script: layout and painting of about 5 000 and 20 000 rectangles on a context
// that only writes them down. The budget is 6 ms a frame; run with `npx vitest bench`.
import { bench, describe } from 'vitest';
import { LabelCache, TextMeasure } from './labels';
import { kUntouched } from './arrangement';
import { layout, type GroupInfo } from './layout';
import { TrackPainter } from './painter';
import { kTestPalette, RecordingContext } from './recording_context';
import { tile_bytes, type TestSlice } from './tile_bytes';
import { decode_tiles, kTileBuckets, type Tile } from './tile_decoder';
import { ticks_for } from './ticks';

const kRows = 5;
const view = { start_ns: 0, end_ns: 2 * kTileBuckets, width_px: 1600 };
const measure = new TextMeasure((text) => text.length * 6);

function group(id: number): GroupInfo {
  return {
    id,
    section: 'host:1',
    section_label: 'python',
    type: 'host',
    label: `thread ${id}`,
    sublabel: '',
    rows: kRows,
    step_rows: 0,
    events: 1,
  };
}

/** Rows of alternating runs and slices, as dense as tiles get. */
function tiles_of(groups: readonly GroupInfo[], per_row: number): Tile[] {
  const step = (kTileBuckets * 256) / per_row;
  const slices: TestSlice[] = [];
  for (let row = 0; row < kRows; row++) {
    for (let n = 0; n < per_row; n++) {
      const start = Math.floor(n * step);
      const run = n % 3 !== 0;
      const end = Math.floor(start + step * 0.8);
      slices.push({
        row,
        start,
        end,
        id: n,
        name: n % 50,
        count: run ? 4 : 1,
        busy: (n * 31) % 256,
        kind: n % 5,
      });
    }
  }
  return decode_tiles(
    tile_bytes(groups.flatMap((g) => [0, 1].map((i) => ({ k: 0, i, group: g.id, rows: kRows, slices })))),
  );
}

describe.each([
  ['5 000 rectangles', 2, 250],
  ['20 000 rectangles', 8, 250],
])('%s', (_, groups, per_row) => {
  const infos = Array.from({ length: groups }, (__, id) => group(id));
  const tiles = tiles_of(infos, per_row);
  const labels = new LabelCache((id) => `aten::operator_${id}`, measure);
  const painter = new TrackPainter();
  const width = kTileBuckets;
  const cover = (___: number, ____: number, _____: number, id: number) =>
    tiles
      .filter((t) => t.group === id)
      .map((tile) => ({ tile, start_ns: tile.i * width, end_ns: (tile.i + 1) * width }));

  bench('layout and paint', () => {
    painter.paint(new RecordingContext(), {
      viewport: view,
      layout: layout({ groups: infos, counters: [] }, kUntouched),
      scroll_px: 0,
      height_px: 2000,
      pixel: 1,
      k: 0,
      tiles: [0, 1],
      cache: { cover },
      labels,
      counters: new Map(),
      palette: kTestPalette,
      ticks: ticks_for(view),
    });
  });
});
