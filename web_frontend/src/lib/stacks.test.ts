import { expect, it } from 'vitest';
import { head_frame } from './stacks';

it('the line that says most is the innermost of the user’s own', () => {
  const frames = [
    '<built-in method conv2d of type object>',
    'torch/nn/modules/conv.py(540): _conv_forward',
    'nn.Module: Conv2d_0',
    'model.py(12): forward',
    'train.py(40): main',
  ];
  expect(head_frame(frames)).toBe('model.py(12): forward');
  expect(head_frame(frames.slice(0, 2))).toBe(frames[0]);
  expect(head_frame([])).toBe('');
});
