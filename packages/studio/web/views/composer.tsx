import { ListPlus, Send, Square } from 'lucide-react'
import { useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { Queue } from './queue.tsx'

/** Where people write. During a run a message is heard before the agent's next step, or queued until the run is over. */
export function Composer({ client }: { readonly client: Client }): ReactNode {
  const { state: status, send } = useHarness(client, (state) => state.status)
  const isRunning = status === 'running' || status === 'awaiting-approval'
  const submit = (prompt: string, isQueued: boolean): void => {
    if (isRunning) send(isQueued ? { type: 'follow-up', message: prompt } : { type: 'steer', message: prompt })
    else submitPrompt(client, prompt)
  }
  return (
    <footer className="border-t border-(--line) p-3">
      <div className="mx-auto max-w-3xl">
        <Queue client={client} />
        <MessageBox isRunning={isRunning} onSubmit={submit} onCancel={() => send({ type: 'cancel' })} />
      </div>
    </footer>
  )
}

/** Sends a prompt to the thread that is shown. A thread is named after what it began with, until somebody renames it. */
export function submitPrompt(client: Client, prompt: string): void {
  const { head, messages } = client.getState()
  if (head.title === null && messages.length === 0) {
    client.send({ type: 'rename', title: prompt.split('\n')[0]?.slice(0, 80) ?? prompt })
  }
  client.send({ type: 'submit', prompt })
}

interface BoxProps {
  readonly isRunning: boolean
  readonly onSubmit: (prompt: string, isQueued: boolean) => void
  readonly onCancel: () => void
}

export function MessageBox({ isRunning, onCancel, onSubmit }: BoxProps): ReactNode {
  const [text, setText] = useState('')
  const area = useRef<HTMLTextAreaElement>(null)
  const submit = (isQueued: boolean): void => {
    const prompt = text.trim()
    if (prompt === '') return
    onSubmit(prompt, isQueued)
    setText('')
    area.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && isRunning) onCancel()
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit(event.altKey)
  }
  return (
    <div className="flex items-end gap-2 rounded-xl border border-(--line) bg-(--panel) p-2 focus-within:border-(--accent)">
      <textarea
        ref={area}
        aria-label="Message"
        autoFocus
        rows={Math.min(8, text.split('\n').length)}
        placeholder={isRunning ? 'Tell the agent something' : 'What should be done?'}
        className="min-w-0 flex-1 resize-none bg-transparent px-2 py-1 !outline-none"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isRunning && (
        <button
          className="rounded-lg p-2 text-(--bad) hover:bg-(--bg)"
          aria-label="Cancel the run"
          title="Cancel the run (Esc)"
          onClick={onCancel}
        >
          <Square size={18} />
        </button>
      )}
      {isRunning && text.trim() !== '' && (
        <button
          className="rounded-lg p-2 hover:bg-(--bg)"
          aria-label="Queue"
          title="Send it after this run (Alt+Enter)"
          onClick={() => submit(true)}
        >
          <ListPlus size={18} />
        </button>
      )}
      <button
        className="rounded-lg bg-(--accent) p-2 text-(--accent-text) disabled:opacity-50"
        aria-label={isRunning ? 'Steer' : 'Send'}
        title={isRunning ? 'The agent hears it before its next step (Enter)' : 'Send (Enter)'}
        disabled={text.trim() === ''}
        onClick={() => submit(false)}
      >
        <Send size={18} />
      </button>
    </div>
  )
}
