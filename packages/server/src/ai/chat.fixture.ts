import {
  AbstractChat,
  DefaultChatTransport,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  type DynamicToolUIPart,
  type UIMessage,
} from 'ai'
import type { ServerBench } from '../server.fixture.ts'

class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined = undefined
  messages: UIMessage[]
  onChange: () => void = () => undefined

  constructor(messages: UIMessage[]) {
    this.messages = messages
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message]
    this.onChange()
  }

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1)
  }

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message))
    this.onChange()
  }

  snapshot = <Value>(value: Value): Value => structuredClone(value)
}

/** `useChat` without React: the same chat class of the AI SDK over a plain state. */
export class TestChat extends AbstractChat<UIMessage> {
  readonly #state: PlainState

  constructor(bench: ServerBench, init: ChatInit<UIMessage> = {}) {
    const state = new PlainState(init.messages ?? [])
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${bench.url}/v1/ai/chat`,
      headers: { authorization: `Bearer ${bench.token}` },
    })
    super({ transport, ...init, state })
    this.#state = state
  }

  /** The texts of the last message, joined. */
  get text(): string {
    return this.#parts('text')
  }

  get reasoning(): string {
    return this.#parts('reasoning')
  }

  get tools(): readonly DynamicToolUIPart[] {
    return (this.lastMessage?.parts ?? []).filter((part) => part.type === 'dynamic-tool')
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#state.onChange = resolve
      await promise
    }
    this.#state.onChange = () => undefined
  }

  #parts(type: 'text' | 'reasoning'): string {
    return (this.lastMessage?.parts ?? []).map((part) => (part.type === type ? part.text : '')).join('')
  }
}
