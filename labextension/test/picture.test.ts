import assert from 'node:assert/strict';
import test from 'node:test';

import { all, sample } from './page';
import { show, tab } from './shown';

test('the labels of arrows lie within the picture', () => {
  show(sample());
  tab('Pipeline');
  const pictures = all('svg.hastega-graph');
  assert.equal(pictures.length, 2);
  for (const picture of pictures) {
    const [from = 0, , width = 0] = (picture.getAttribute('viewBox') ?? '').split(' ').map(Number);
    for (const label of all('text.hastega-halo', picture)) {
      const x = Number(label.getAttribute('x'));
      const long = 5.5 * Array.from(label.firstChild?.textContent ?? '').length;
      const [low, high] = label.getAttribute('text-anchor') === 'end' ? [x - long, x] : [x, x + long];
      assert.ok(low >= from && high <= from + width, label.textContent ?? '');
    }
  }
});
