import type { AgentEvent } from '@evener/protocol'
import type { Terminal } from './command.ts'

const RESULT_CHARS = 100

/** Shows agent events to a person, as they come. */
export class Renderer {
  readonly #terminal: Terminal
  #isInText = false

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  show(event: AgentEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#terminal.write(event.text)
        if (event.text !== '') this.#isInText = !event.text.endsWith('\n')
        break
      case 'tool-call':
        this.#line(`→ ${event.toolName} ${JSON.stringify(event.args)}`)
        break
      case 'tool-result':
        this.#line(`${event.isError === true ? '✗' : '✓'} ${event.toolName} ${shorten(event.result)}`)
        break
      case 'error':
        this.#line(`! ${event.error.message}`)
        break
      case 'finish':
        this.#line('')
        break
      case 'start':
      case 'reasoning-delta':
      case 'tool-call-delta':
      case 'tool-approval-request':
      case 'tool-progress':
      case 'step-start':
      case 'step-finish':
        break
    }
  }

  #line(text: string): void {
    if (this.#isInText) this.#terminal.write('\n')
    this.#isInText = false
    if (text !== '') this.#terminal.out(text)
  }
}

function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= RESULT_CHARS ? text : `${text.slice(0, RESULT_CHARS)}…`
}
