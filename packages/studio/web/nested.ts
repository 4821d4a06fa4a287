import { createContext } from 'react'
import type { Client } from '@inspan/client'
import type { WireMessage } from '@inspan/protocol/wire'

/** What cards of calls need to know about the conversation they are in. */
export interface Nested {
  readonly client: Client | undefined
  /** The thread that is shown. A replay may show another one than the client follows. */
  readonly thread: string
  /** All of its messages that are known. A function, so that cards are not drawn again for every word. */
  readonly messages: () => readonly WireMessage[]
  /** Messages of foreign subagents, by the call that started each. */
  readonly byCall: ReadonlyMap<string, readonly WireMessage[]>
}

export const NestedContext = createContext<Nested>({
  client: undefined,
  thread: '',
  messages: () => [],
  byCall: new Map(),
})

/** Takes the messages of subagents out of a conversation. They are shown in the call that started them. */
export function splitNested(messages: readonly WireMessage[]): {
  readonly top: readonly WireMessage[]
  readonly byCall: ReadonlyMap<string, readonly WireMessage[]>
} {
  if (!messages.some(({ parentToolCallId }) => parentToolCallId !== undefined)) return { top: messages, byCall: NONE }
  const byCall = new Map<string, WireMessage[]>()
  const top: WireMessage[] = []
  for (const message of messages) {
    const { parentToolCallId } = message
    if (parentToolCallId === undefined) top.push(message)
    else byCall.set(parentToolCallId, [...(byCall.get(parentToolCallId) ?? []), message])
  }
  return { top, byCall }
}

const NONE: ReadonlyMap<string, readonly WireMessage[]> = new Map()
