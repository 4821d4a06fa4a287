import { GitFork, History } from 'lucide-react'
import { memo, useState, type NamedExoticComponent, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import type { WireMessage } from '@inspan/protocol/wire'
import { Markdown } from '../parts/markdown.tsx'
import { ToolCard } from './tool-card.tsx'
import { RewindDialog } from './rewind-dialog.tsx'

interface MessageProps {
  readonly message: WireMessage
  /** What can be done from here on. Nothing in a replay. */
  readonly actions?: { readonly client: Client; readonly onOpen: (thread: string) => void }
}

/** Messages keep their identity while nothing about them changes, so that only the one that streams is drawn again. */
export const Message: NamedExoticComponent<MessageProps> = memo(function Message({
  actions,
  message,
}: MessageProps): ReactNode {
  const { attachments = [], content, id, reasoning, role, status, toolCalls = [] } = message
  const isUser = role === 'user'
  if (role === 'system') return <Note text={content} />
  return (
    <article aria-label={isUser ? 'You' : 'Agent'} className="group mx-auto w-full max-w-3xl px-4 pt-2">
      <div className={isUser ? 'rounded-xl bg-(--panel) px-4 py-2' : ''}>
        {reasoning !== undefined && <Reasoning text={reasoning} />}
        {content !== '' && (isUser ? <p className="whitespace-pre-wrap">{content}</p> : <Markdown text={content} />)}
        {attachments.map((file, index) => (
          <p key={index} className="text-sm text-(--soft)">
            📎 {file.fileName ?? file.mimeType}
          </p>
        ))}
        {toolCalls.map((call) => (
          <ToolCard key={call.id} call={call} />
        ))}
        {status === 'error' && <p className="text-sm text-(--bad)">This answer was interrupted.</p>}
      </div>
      {status !== 'streaming' && actions !== undefined && <Actions {...actions} messageId={id} isUser={isUser} />}
    </article>
  )
})

/** What happened to the conversation itself: nobody's words. */
function Note({ text }: { readonly text: string }): ReactNode {
  return (
    <article aria-label="Note" className="mx-auto flex w-full max-w-3xl items-center gap-3 px-4 py-3">
      <span className="h-px flex-1 bg-(--line)" />
      <p className="text-center text-xs text-(--soft)">{text}</p>
      <span className="h-px flex-1 bg-(--line)" />
    </article>
  )
}

function Reasoning({ text }: { readonly text: string }): ReactNode {
  return (
    <details className="mb-1 text-sm text-(--soft)">
      <summary className="cursor-pointer">Reasoning</summary>
      <p className="whitespace-pre-wrap border-l-2 border-(--line) pl-3">{text}</p>
    </details>
  )
}

interface ActionsProps {
  readonly client: Client
  readonly messageId: string
  readonly isUser: boolean
  readonly onOpen: (thread: string) => void
}

function Actions({ client, isUser, messageId, onOpen }: ActionsProps): ReactNode {
  const [isRewinding, setRewinding] = useState(false)
  const fork = async (): Promise<void> => {
    const thread = await client.routes.forkThread(client.getState().thread, { messageId })
    onOpen(thread.id)
  }
  return (
    // Without a fade: half-faded text has too little contrast. Where nothing hovers, as on phones, it is always there.
    <div className="flex gap-1 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 [@media(hover:none)]:opacity-100">
      <button
        className="flex items-center gap-1 rounded px-1.5 py-0.5 text-xs text-(--soft) hover:bg-(--panel)"
        onClick={() => void fork()}
      >
        <GitFork size={12} /> Fork here
      </button>
      {isUser && (
        <button
          className="flex items-center gap-1 rounded px-1.5 py-0.5 text-xs text-(--soft) hover:bg-(--panel)"
          onClick={() => setRewinding(true)}
        >
          <History size={12} /> Rewind
        </button>
      )}
      {isRewinding && <RewindDialog client={client} messageId={messageId} onClose={() => setRewinding(false)} />}
    </div>
  )
}
