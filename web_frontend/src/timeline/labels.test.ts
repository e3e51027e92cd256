import { describe, expect, it } from 'vitest';
import { LabelCache, spellings_of, TextMeasure } from './labels';

describe('spellings, each shorter than the one before', () => {
  it.each([
    ['aten::conv2d', ['aten::conv2d', 'conv2d']],
    ['volta_scudnn_128x64_relu_xregs_large_nn_v1', ['volta_scudnn_128x64_relu_xregs_large_nn_v1']],
    ['void cudnn::bn_fw_tr<float, 512>(int)', ['void cudnn::bn_fw_tr<float, 512>(int)', 'bn_fw_tr']],
    [
      'torch/nn/modules/conv.py(440): _conv_forward',
      ['torch/nn/modules/conv.py(440): _conv_forward', '_conv_forward'],
    ],
    [
      'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__',
      ['enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 'DataLoader'],
    ],
    ['Optimizer.step#SGD.step', ['Optimizer.step#SGD.step', 'SGD.step']],
    [
      'autograd::engine::evaluate_function: AddmmBackward0',
      ['autograd::engine::evaluate_function: AddmmBackward0', 'AddmmBackward0'],
    ],
    ['nn.Module: Linear_3', ['nn.Module: Linear_3', 'Linear_3']],
    ['', ['']],
    ['  \n ', ['']],
  ])('%s', (name, wanted) => expect(spellings_of(name)).toEqual(wanted));
  it('no name is too long to handle', () => {
    const all = spellings_of(`void f<${'x<'.repeat(200_000)}`);
    expect(all.every((t) => t.length <= 120)).toBe(true);
  });
});

describe('measuring', () => {
  const measure = new TextMeasure((text) => (text === '…' ? 8 : 6 * Array.from(text).length));
  it('crops with an ellipsis, never inside a character', () => {
    expect(measure.crop('abcdefgh', 6 * 4 + 8)).toBe('abcd…');
    expect(measure.crop('\u{1F525}\u{1F525}\u{1F525}\u{1F525}', 6 * 2 + 8)).toBe('\u{1F525}\u{1F525}…');
    expect(measure.crop('abcdefgh', 15)).toBe('');
  });
  it('a name that is not known yet has no label, and has one later', () => {
    const names: string[] = [];
    const labels = new LabelCache((id) => names[id], measure);
    expect(labels.fit(0, 100)).toBe('');
    names[0] = 'aten::add';
    expect(labels.fit(0, 100)).toBe('aten::add');
    expect(labels.fit(0, 30)).toBe('add');
    expect(labels.fit(0, 25)).toBe('');
  });
});
