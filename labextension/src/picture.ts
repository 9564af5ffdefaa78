/** Draws the glossary's pictures: rows of boxes, arrows where values move, hatching where a lane does not count. */

import { cls, svg, unique } from './dom';
import { Picture } from './glossary/pictures';

const BOX = 46;
const HIGH = 18;

/** The picture as SVG in the page's colours; its label names rows and values for a screen reader. */
export function draw(picture: Picture): SVGElement {
  const left = 8 + 6.4 * Math.max(...picture.rows.map(row => Array.from(row.label).length));
  const moving = picture.arrows.length > 0;
  const pitch = moving ? HIGH + 16 : HIGH + 3;
  const columns = Math.max(...picture.rows.map(row => row.cells.length));
  const width = left + columns * BOX + 2;
  const height = (picture.rows.length - 1) * pitch + HIGH + 2;
  const said = picture.rows.map(row => `${row.label}: ${row.cells.join(' ')}`).join('; ');
  const hatch = unique('hatch');
  const root = svg(
    'svg',
    { class: cls('picture'), role: 'img', 'aria-label': said, width, height, viewBox: `0 0 ${width} ${height}` },
    svg(
      'pattern',
      { id: hatch, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      svg('line', { x1: 0, y1: 0, x2: 0, y2: 5, class: cls('hatch') })
    )
  );
  for (const arrow of picture.arrows) {
    const y = arrow.row * pitch + HIGH + 1;
    const [x1, x2] = [left + (arrow.from + 0.5) * BOX, left + (arrow.to + 0.5) * BOX];
    root.append(svg('line', { x1, y1: y, x2, y2: y + 11, class: cls('arrow') }));
    root.append(svg('circle', { cx: x2, cy: y + 13, r: 2, class: cls('tip') }));
  }
  picture.rows.forEach((row, at) => {
    const y = at * pitch + 1;
    const last = at === picture.rows.length - 1;
    root.append(svg('text', { x: left - 6, y: y + 13, class: cls('label'), 'text-anchor': 'end' }, row.label));
    row.cells.forEach((cell, column) => {
      const box = { x: left + column * BOX, y, width: BOX - 3, height: HIGH };
      root.append(svg('rect', { ...box, class: cls(last ? 'result' : 'cell') }));
      if (row.dead?.[column]) {
        root.append(svg('rect', { ...box, fill: `url(#${hatch})` }));
      }
      const middle = { x: left + column * BOX + BOX / 2 - 1.5, y: y + 13, 'text-anchor': 'middle' };
      root.append(svg('text', { ...middle, class: cls('value') }, cell));
    });
  });
  return root;
}
