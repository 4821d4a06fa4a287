/** What a line is about. The theme gives each tone its colour. */
export type Tone = 'plain' | 'soft' | 'good' | 'bad' | 'accent' | 'strong'

export interface ToneLine {
  readonly text: string
  readonly tone: Tone
}

/** One paragraph of the screen: Markdown of an agent, or lines of ours. All text is safe for a terminal. */
export type Block =
  | { readonly type: 'markdown'; readonly text: string }
  | { readonly type: 'lines'; readonly lines: readonly ToneLine[] }

export function line(text: string, tone: Tone = 'plain'): ToneLine {
  return { text, tone }
}

export function lines(...all: readonly ToneLine[]): Block {
  return { type: 'lines', lines: all }
}
