import { createContext } from 'react'
import type { Client } from '@inspan/client'
import type { WireMessage } from '@inspan/protocol/wire'

/** What cards of calls need to show the work of a subagent. */
export interface Nested {
  readonly client: Client | undefined
  /** Messages of foreign subagents, by the call that started each. */
  readonly byCall: ReadonlyMap<string, readonly WireMessage[]>
}

export const NestedContext = createContext<Nested>({ client: undefined, byCall: new Map() })

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
