import type { EditorTheme, MarkdownTheme } from '@earendil-works/pi-tui'
import type { Terminal } from '../command.ts'
import type { Tone } from './block.ts'

type Paint = (text: string) => string

export interface Theme {
  readonly tones: Readonly<Record<Tone, Paint>>
  readonly markdown: MarkdownTheme
  readonly editor: EditorTheme
}

/** True unless the user or the terminal refuses colour: https://no-color.org. */
export function hasColour({ NO_COLOR, TERM }: Terminal['env']): boolean {
  return (NO_COLOR ?? '') === '' && TERM !== 'dumb'
}

/** Uses only the 16 colours that every palette defines, so it fits dark and light terminals. */
export function createTheme(isColoured: boolean): Theme {
  const sgr = (on: number, off: number): Paint =>
    isColoured ? (text) => `\x1b[${on}m${text}\x1b[${off}m` : (text) => text
  const plain: Paint = (text) => text
  const bold = sgr(1, 22)
  const soft = sgr(2, 22)
  const cyan = sgr(36, 39)
  return {
    tones: { plain, soft, good: sgr(32, 39), bad: sgr(31, 39), accent: cyan, strong: bold },
    markdown: {
      heading: bold,
      link: cyan,
      linkUrl: soft,
      code: cyan,
      codeBlock: plain,
      codeBlockBorder: soft,
      quote: plain,
      quoteBorder: soft,
      hr: soft,
      listBullet: cyan,
      bold,
      italic: sgr(3, 23),
      strikethrough: sgr(9, 29),
      underline: sgr(4, 24),
    },
    editor: {
      borderColor: soft,
      selectList: { selectedPrefix: cyan, selectedText: cyan, description: soft, scrollInfo: soft, noMatch: soft },
    },
  }
}
