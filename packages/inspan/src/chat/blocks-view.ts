import { Container, Markdown, Spacer, Text, type Component } from '@earendil-works/pi-tui'
import type { WireMessage } from '@inspan/protocol/wire'
import type { Block, ToneLine } from './block.ts'
import { markdownPieces } from './markdown-pieces.ts'
import { messageBlocks } from './render-state.ts'
import type { Theme } from './theme.ts'

/** Shows blocks, with an empty line before each. */
export function blocksView(
  blocks: readonly Block[],
  theme: Theme,
  markdown: (text: string) => Component = (text) => new Markdown(text, 0, 0, theme.markdown),
): Component {
  const view = new Container()
  for (const block of blocks) {
    if (block.type === 'lines') {
      view.addChild(new Spacer(1))
      view.addChild(new Text(painted(block.lines, theme), 0, 0))
      continue
    }
    for (const piece of markdownPieces(block.text)) {
      view.addChild(new Spacer(1))
      view.addChild(markdown(piece))
    }
  }
  return view
}

export function painted(lines: readonly ToneLine[], { tones }: Theme): string {
  return lines.map(({ text, tone }) => (text === '' ? '' : tones[tone](text))).join('\n')
}

interface ShownMessage {
  readonly message: WireMessage
  readonly isUnfolded: boolean
  readonly view: Component
  /** The pieces of its Markdown. While a message streams in, only the last one changes. */
  readonly pieces: ReadonlyMap<string, Component>
}

/** Shows messages. One that did not change is not laid out again, so a delta costs what its own message costs. */
export class Transcript implements Component {
  readonly #theme: Theme
  #shown: ReadonlyMap<string, ShownMessage> = new Map()

  constructor(theme: Theme) {
    this.#theme = theme
  }

  update(messages: readonly WireMessage[], isUnfolded: boolean): void {
    const before = this.#shown
    this.#shown = new Map(
      messages.map((message) => {
        const kept = before.get(message.id)
        if (kept?.message === message && kept.isUnfolded === isUnfolded) return [message.id, kept]
        const pieces = new Map<string, Component>()
        const view = blocksView(messageBlocks(message, isUnfolded), this.#theme, (text) => {
          const piece = kept?.pieces.get(text) ?? new Markdown(text, 0, 0, this.#theme.markdown)
          pieces.set(text, piece)
          return piece
        })
        return [message.id, { message, isUnfolded, view, pieces }]
      }),
    )
  }

  render(width: number): string[] {
    return [...this.#shown.values()].flatMap(({ view }) => view.render(width))
  }

  invalidate(): void {
    for (const { view } of this.#shown.values()) view.invalidate()
  }
}
