import type { ActivityEvent } from '@evener/protocol'
import type { Terminal } from './command.ts'
import { describeActivity } from './describe-activity.ts'
import type { ToldEvent } from './entry-events.ts'
import { visible, VisibleText } from './visible-text.ts'

const RESULT_CHARS = 100

/** Shows agent events to a person, as they come. */
export class Renderer {
  readonly #terminal: Pick<Terminal, 'out' | 'write'>
  #isInText = false
  #text = new VisibleText()

  constructor(terminal: Pick<Terminal, 'out' | 'write'>) {
    this.#terminal = terminal
  }

  show(event: ToldEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#say(this.#text.push(event.text))
        break
      case 'tool-call':
        this.#line(`→ ${event.toolName} ${JSON.stringify(event.args)}`)
        break
      case 'tool-result':
        this.#line(`${event.isError === true ? '✗' : '✓'} ${event.toolName} ${shorten(event.result)}`)
        break
      case 'file':
        this.#line(`✓ made a file: ${event.fileName ?? event.mimeType}`)
        break
      case 'error':
        this.#line(`! ${event.error.message}`)
        break
      case 'finish':
        this.#line('')
        break
      case 'note':
        for (const activity of event.activity.events) if (isForPeople(activity)) this.#line(describeActivity(activity))
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

  #say(text: string): void {
    if (text === '') return
    this.#terminal.write(text)
    this.#isInText = !text.endsWith('\n')
  }

  #line(text: string): void {
    if (this.#isInText) this.#terminal.write('\n')
    this.#isInText = false
    // What was left open in one text does not reach into the next.
    this.#text = new VisibleText()
    if (text !== '') this.#terminal.out(visible(text))
  }
}

/** What nobody understands is kept in the log; on a screen it would only be noise. */
function isForPeople(activity: ActivityEvent): boolean {
  return activity.type !== 'unknown'
}

function shorten(value: unknown): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).trim().replaceAll(/\s*\n\s*/g, ' ⏎ ')
  return text.length <= RESULT_CHARS ? text : `${text.slice(0, RESULT_CHARS)}…`
}
