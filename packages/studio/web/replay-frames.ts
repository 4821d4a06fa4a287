import type { HarnessToolCall, WireMessage } from '@inspan/protocol/wire'

/** How many pieces a long text is shown in. */
const MOST_PIECES = 40
const PIECE = 24

/** A conversation cut into frames. Frame 0 is empty, the last one is the whole conversation. */
export interface Replay {
  readonly last: number
  at(frame: number): readonly WireMessage[]
}

/** Makes the frames of a conversation: prompts come at once, answers word by word, calls before their results. */
export function replayOf(messages: readonly WireMessage[]): Replay {
  const ends: number[] = []
  let last = 0
  for (const message of messages) {
    last += framesOf(message)
    ends.push(last)
  }
  return {
    last,
    at: (frame) => {
      const index = ends.findIndex((end) => end > frame)
      const message = messages[index]
      if (message === undefined) return messages
      const shown = frame - (ends[index - 1] ?? 0)
      return shown === 0 ? messages.slice(0, index) : [...messages.slice(0, index), partOf(message, shown)]
    },
  }
}

function framesOf({ content, reasoning, role, toolCalls = [] }: WireMessage): number {
  if (role === 'user') return 1
  return Math.max(1, (reasoning === undefined ? 0 : 1) + pieces(content) + toolCalls.length * 2)
}

function pieces(content: string): number {
  return Math.min(MOST_PIECES, Math.ceil(content.length / PIECE))
}

/** Returns a message as it was after some of its frames. */
function partOf(message: WireMessage, frames: number): WireMessage {
  const { content, reasoning, toolCalls = [] } = message
  const said = Math.max(0, frames - (reasoning === undefined ? 0 : 1))
  const all = pieces(content)
  const calls = Math.max(0, said - all)
  const shown: WireMessage = {
    ...message,
    status: 'streaming',
    content: said >= all ? content : content.slice(0, Math.ceil((content.length * said) / all)),
  }
  if (toolCalls.length === 0) return shown
  return {
    ...shown,
    toolCalls: toolCalls.slice(0, Math.ceil(calls / 2)).map((call, index) => callAt(call, calls - index * 2)),
  }
}

function callAt(call: HarnessToolCall, frames: number): HarnessToolCall {
  if (frames >= 2) return call
  const { activity: _activity, output: _output, ...begun } = call
  return { ...begun, status: 'running' }
}
