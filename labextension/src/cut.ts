/**
 * What a report leaves out, to keep the notebook small, and how to get it whole.
 *
 * `cut` in the JSON names what was cut and how much of it there is; in a listing a comment stands where lines are missing.
 */

import { Pipeline } from './report';

/** `; … 29 600 lines left out: ...`, in each language's way of a comment. */
const MARK = /^\s*(?:;|\/\/|#) … .*\b(?:left out|more lines?|cut)\b/;

export const WHERE = '%hastega report --save FILE.html writes all of it';

/** Whether a line of a listing stands for lines that are not there. */
export function isMark(line: string): boolean {
  return MARK.test(line);
}

/** How many there are of a part, shown or not. */
export function total(pipeline: Pipeline, part: string, shown: number): number {
  return Math.max(shown, pipeline.cut.get(part) ?? 0);
}
