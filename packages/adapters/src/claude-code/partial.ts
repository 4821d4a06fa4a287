import type { JsonObject } from '@inspan/protocol'
import { asInteger, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { TextPlace, Run } from '../kit/mapper.ts'

type BlockKind = 'text' | 'reasoning' | 'tool'

interface PartialBlock {
  readonly kind: BlockKind
  readonly partId: string
  /** Set if the block is a tool call. */
  readonly toolUseId: string | undefined
  readonly toolName: string | undefined
  isWhole: boolean
}

interface StreamedMessage {
  readonly id: string
  readonly blocks: Map<number, PartialBlock>
  isOver: boolean
}

/** Reads the raw provider stream in `stream_event` records: deltas that come before the record with the whole block. */
export class PartialMessages {
  readonly #run: Run
  /** The message that each speaker is streaming. */
  readonly #messages = new Map<string, StreamedMessage>()

  constructor(run: Run) {
    this.#run = run
  }

  /** Reads one event. Returns the id of the message that it begins, if it does. */
  read(event: JsonObject, parent: string | undefined): string | undefined {
    const speaker = parent ?? ''
    switch (event['type']) {
      case 'message_start': {
        const id = asText((asObject(event['message']) ?? NO_FIELDS)['id'])
        if (id !== undefined) this.#messages.set(speaker, { id, blocks: new Map(), isOver: false })
        return id
      }
      case 'content_block_start':
        this.#startBlock(event, this.#messages.get(speaker))
        return undefined
      case 'content_block_delta':
        this.#delta(event, this.#messages.get(speaker), parent)
        return undefined
      case 'message_stop': {
        const message = this.#messages.get(speaker)
        if (message !== undefined) message.isOver = true
        return undefined
      }
      default:
        return undefined
    }
  }

  /**
   * Handles the retry of a model call; the record does not say whose. A message that has stopped without a whole text
   * is the one that was cut off.
   */
  retried(): void {
    for (const [speaker, message] of this.#messages) {
      if (!message.isOver) continue
      this.#messages.delete(speaker)
      for (const block of message.blocks.values()) if (!block.isWhole) this.#run.breakOff(block.partId)
    }
  }

  /** Returns the streamed part that this complete text belongs to, if it was streamed. */
  takePart(messageId: string | undefined, kind: BlockKind, parent: string | undefined): string | undefined {
    const message = this.#messages.get(parent ?? '')
    if (message === undefined || message.id !== messageId) return undefined
    for (const block of message.blocks.values()) {
      if (block.isWhole || block.kind !== kind) continue
      block.isWhole = true
      return block.partId
    }
    return undefined
  }

  #startBlock(event: JsonObject, message: StreamedMessage | undefined): void {
    const index = asInteger(event['index'])
    const content = asObject(event['content_block']) ?? NO_FIELDS
    const kind = kindOf(content['type'])
    if (message === undefined || index === undefined || kind === undefined) return
    message.blocks.set(index, {
      kind,
      partId: `${message.id}:${index}`,
      toolUseId: asText(content['id']),
      toolName: asText(content['name']),
      isWhole: false,
    })
  }

  #delta(event: JsonObject, message: StreamedMessage | undefined, parent: string | undefined): void {
    const block = message?.blocks.get(asInteger(event['index']) ?? -1)
    const delta = asObject(event['delta'])
    if (block === undefined || block.isWhole || delta === undefined) return
    const place: TextPlace & { readonly partId: string } = { partId: block.partId, parent }
    const text = asText(delta['text'])
    const thinking = asText(delta['thinking'])
    const json = asText(delta['partial_json'])
    if (block.kind === 'text' && text !== undefined) this.#run.textDelta(text, place)
    else if (block.kind === 'reasoning' && thinking !== undefined) this.#run.reasoningDelta(thinking, place)
    else if (block.kind === 'tool' && json !== undefined && block.toolUseId !== undefined) {
      this.#run.emit({
        type: 'tool-call-delta',
        toolCallId: block.toolUseId,
        argsTextDelta: json,
        ...(block.toolName === undefined ? {} : { toolName: block.toolName }),
        ...(parent === undefined ? {} : { parentToolCallId: parent }),
      })
    }
  }
}

function kindOf(type: unknown): BlockKind | undefined {
  if (type === 'text') return 'text'
  if (type === 'thinking') return 'reasoning'
  return type === 'tool_use' ? 'tool' : undefined
}
