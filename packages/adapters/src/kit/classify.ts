import { classify } from '@evener/shell/read'
import { memoized, type Classify } from './shell-command.ts'

/** How shell commands are read when nobody says otherwise. */
export function defaultClassify(): Classify {
  return memoized(classify)
}
