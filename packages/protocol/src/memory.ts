import type { OmPointer } from './control-record.ts'
import type { MemoryEvent } from './harness-event/memory.ts'
import type { JsonObject } from './json.ts'
import type { StoredMessage } from './message.ts'
import type { RunnableTool } from './runnable-tool.ts'

/** What replaces messages that are no longer sent to the model. Stored as a blob. */
export interface MemoryContent {
  /** What the model reads instead. */
  readonly text: string
  /** What the memory itself needs to go on. */
  readonly state: JsonObject
}

/** Identifies what a memory has read: a commit counts only if neither memory nor messages have changed since. */
export interface MemoryBasis {
  readonly generation: number
  readonly changes: number
}

/** Which messages are replaced: those up to `coversTo`, but the newest task only with `wholly`. */
export interface MemoryPlace {
  readonly coversTo: number
  readonly wholly?: boolean
}

export type MemoryModel = 'observer' | 'reflector' | 'summariser'

/** Returns vectors for texts, as an embedding model gives them. */
export type Embed = (texts: readonly string[], signal?: AbortSignal) => Promise<readonly (readonly number[])[]>

export interface MessageSearch {
  readonly limit: number
  readonly embed?: Embed
  readonly signal?: AbortSignal
}

/** What a memory sees of a thread, and how it acts on it: through records and nothing else. */
export interface MemoryThread {
  readonly threadId: string
  pointer(): OmPointer | null
  /** Whether the thread is a fork that has sent nothing yet: its first request continues the last one of its parent. */
  isFreshFork(): boolean
  basis(): MemoryBasis
  content(): Promise<MemoryContent | undefined>
  /** The ended messages that the model is still sent themselves, oldest first. */
  messages(): Promise<readonly StoredMessage[]>
  tokensOf(message: StoredMessage): number
  countTokens(text: string): number
  /** The task among the messages that were replaced: the model is still sent it. */
  kept(): Promise<readonly StoredMessage[]>
  /** The tokens of what the model is sent, and of what it would be sent with the text in the place of messages. */
  sizes(text: string, place: MemoryPlace): Promise<readonly [before: number, after: number]>
  /** Puts a summary in the place of messages. False if the basis no longer holds. */
  compact(
    summary: string,
    place: MemoryPlace,
    tokens: readonly [before: number, after: number],
    basis: MemoryBasis,
  ): Promise<boolean>
  /** Finds ended messages of the whole thread by words and, with `embed`, by meaning; the best first. */
  search(query: string, options: MessageSearch): Promise<readonly StoredMessage[]>
  /** Reads ended messages of the whole thread, from an order on, oldest first. */
  read(from: number, limit: number): Promise<readonly StoredMessage[]>
  /** Leaves the messages up to `coversTo` out of what the model sees. False if the basis no longer holds. */
  cut(coversTo: number, basis: MemoryBasis): Promise<boolean>
  /** Puts observations in the place of the messages up to `coversTo`. False if the basis no longer holds. */
  observe(content: MemoryContent, coversTo: number, basis: MemoryBasis): Promise<boolean>
}

/** What the surroundings of a thread add: models, thresholds, listeners. */
export interface MemoryServices {
  /** Asks the model of a role; `undefined` if nobody configured one. */
  ask(role: MemoryModel, system: string, prompt: string, signal: AbortSignal): Promise<string | undefined>
  threshold(role: 'observer' | 'reflector'): number | undefined
  /** Returns vectors for texts; absent if nobody configured an embedding model. */
  readonly embed?: Embed
  /** Names the thread; returns its title of before, or `undefined` if it has the title already. */
  readonly setTitle: (title: string) => Promise<{ readonly oldTitle: string | null } | undefined>
  readonly emit: (event: MemoryEvent) => void
  readonly now: () => number
  readonly newId: () => string
}

/** The memory of one open thread. */
export interface ThreadMemory {
  /** What the agent of the thread gets to look things up with. */
  readonly tools: readonly RunnableTool[]
  /** Called before every model step. Waits for no model. */
  beforeStep(): Promise<void>
  /** Called when the conversation no longer fits. True if it is shorter now. */
  compact(): Promise<boolean>
  /** Stops what runs in the background. */
  close(): void
}
