import { useEffect, useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import type { GrantScope, JsonObject, JsonValue } from '@inspan/protocol'
import { splitDescription } from '@inspan/protocol/internal'
import type { Command, PendingApproval } from '@inspan/protocol/wire'
import { Button } from '../parts/button.tsx'
import { Diff } from '../parts/diff.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { pathIn } from '../path-in.ts'
import { optionsOf } from '../question-options.ts'

type Send = (command: Command) => unknown

/** Everything that waits for a person, oldest first. */
export function Waits({ client }: { readonly client: Client }): ReactNode {
  const { state: waits, send } = useHarness(client, (state) => state.pendingApprovals ?? NONE)
  if (waits.length === 0) return null
  return (
    <section aria-label="Waits for you" className="max-h-[50vh] overflow-y-auto border-t border-(--line) px-3">
      {waits.map((wait) => (
        <WaitCard key={wait.waitId} client={client} thread={client.getState().thread} wait={wait} send={send} />
      ))}
    </section>
  )
}

const NONE: readonly PendingApproval[] = []

interface CardProps {
  readonly client: Client
  /** The thread that waits. */
  readonly thread: string
  readonly wait: PendingApproval
  readonly send: Send
}

/** One wait with everything that is needed to answer it, wherever it is shown. */
export function WaitCard(props: CardProps): ReactNode {
  const { send, wait } = props
  return (
    <div
      role="group"
      aria-label={wait.description}
      className="mx-auto my-3 max-w-3xl rounded-xl border-2 border-(--accent) p-4"
    >
      {wait.kind === 'question' ? (
        <Question wait={wait} send={send} />
      ) : wait.kind === 'plan' ? (
        <Plan wait={wait} send={send} />
      ) : (
        <Approval {...props} />
      )}
    </div>
  )
}

function Approval({ client, send, thread, wait }: CardProps): ReactNode {
  const { input, kind, toolCallId, toolName } = wait
  const { text, why } = splitDescription(toolName, input, wait.description, wait.payload)
  const before = useAskedFile(client, thread, wait)
  const [isForKind, setForKind] = useState(false)
  const approve = (scope?: GrantScope): void => {
    const answer = kind === 'access' ? { answer: true } : {}
    const remember = isForKind ? 'category' : 'tool'
    send({ type: 'approve', toolCallId, ...answer, ...(scope === undefined ? {} : { remember, scope }) })
  }
  return (
    <>
      <p className="mb-2 font-medium">Allow {toolName}?</p>
      {text !== undefined && <p className="mb-2 text-sm whitespace-pre-wrap">{text}</p>}
      {input !== undefined && <ApprovedInput input={input} before={before} />}
      {why !== undefined && <Reason text={why} />}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={() => approve()}>
          Allow once
        </Button>
        {kind === 'approval' && (
          <>
            <Button onClick={() => approve('thread')}>Allow in this thread</Button>
            <Button onClick={() => approve('resource')}>Always allow in this project</Button>
          </>
        )}
        <Deny toolCallId={toolCallId} send={send} />
      </div>
      {kind === 'approval' && (
        <label className="mt-3 flex items-center gap-2 text-sm text-(--soft)">
          <input type="checkbox" checked={isForKind} onChange={(event) => setForKind(event.target.checked)} />
          In this thread or project, allow everything of the same kind as {toolName}
        </label>
      )}
    </>
  )
}

/** Reads the file that a call would write over. Undefined until it is read, and for calls that do no such thing. */
function useAskedFile(client: Client, thread: string, { input, waitId }: PendingApproval): string | null | undefined {
  const [before, setBefore] = useState<string | null | undefined>(undefined)
  const isWhole = typeof input?.['content'] === 'string'
  useEffect(() => {
    if (!isWhole) return
    let isCurrent = true
    client.routes.askedFile(thread, waitId).then(
      (found) => isCurrent && setBefore(found),
      // The new content is shown all the same.
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [client, isWhole, thread, waitId])
  return before
}

/** What is between backticks is a name. */
function Reason({ text }: { readonly text: string }): ReactNode {
  return (
    <p className="mb-3 text-sm text-(--soft)">
      Asked because{' '}
      {text.split('`').map((piece, index) => (index % 2 === 0 ? piece : <code key={index}>{piece}</code>))}.
    </p>
  )
}

interface InputProps {
  readonly input: JsonObject
  /** The file as it is now, which `content` would replace. */
  readonly before: string | null | undefined
}

/** Shows exactly what is approved: the command, the change as a diff, and every other argument. */
function ApprovedInput({ before: current, input }: InputProps): ReactNode {
  const { command, content, new_string: after, old_string: before, ...rest } = input
  return (
    <div className="mb-3 space-y-2">
      {typeof command === 'string' && (
        <pre className="max-h-60 overflow-auto rounded bg-(--panel) p-2 text-xs whitespace-pre-wrap" tabIndex={0}>
          $ {command}
        </pre>
      )}
      {Object.keys(rest).length > 0 && (
        <dl className="text-sm">
          {Object.entries(rest).map(([name, value]) => (
            <div key={name} className="flex gap-2">
              <dt className="shrink-0 text-(--soft)">{name}</dt>
              <dd className="min-w-0 font-mono text-xs leading-6 break-all whitespace-pre-wrap">
                {typeof value === 'string' ? value : JSON.stringify(value)}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {typeof after === 'string' && (
        <Diff path={pathIn(input)} before={typeof before === 'string' ? before : ''} after={after} />
      )}
      {typeof content === 'string' && (
        <>
          {typeof current === 'string' && <p className="text-sm text-(--soft)">Replaces the file that is there:</p>}
          <Diff path={pathIn(input)} before={current ?? ''} after={content} />
        </>
      )}
    </div>
  )
}

function Deny({
  label = 'Deny',
  send,
  toolCallId,
}: {
  readonly label?: string
  readonly toolCallId: string
  readonly send: Send
}): ReactNode {
  const [reason, setReason] = useState<string | undefined>(undefined)
  if (reason === undefined) {
    return (
      <Button kind="danger" onClick={() => setReason('')}>
        {label}…
      </Button>
    )
  }
  const deny = (): unknown =>
    send({ type: 'deny', toolCallId, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) })
  return (
    <form
      className="flex w-full gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        deny()
      }}
    >
      <input
        autoFocus
        aria-label="Reason, told to the agent"
        placeholder="Why not? (told to the agent)"
        onKeyDown={(event) => {
          if (event.key === 'Escape') setReason(undefined)
        }}
        className="min-w-0 flex-1 rounded-lg border border-(--line) bg-(--bg) px-3 py-1.5 text-sm"
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <Button type="submit" kind="danger">
        {label}
      </Button>
      <Button onClick={() => setReason(undefined)}>Back</Button>
    </form>
  )
}

function Question({ send, wait }: { readonly wait: PendingApproval; readonly send: Send }): ReactNode {
  const { files, isClosed, isMultiple, options, question } = optionsOf(wait)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const answer = (value: JsonValue): unknown => send({ type: 'approve', toolCallId: wait.toolCallId, answer: value })
  const toggle = (option: string): void => {
    const next = new Set(chosen)
    if (!next.delete(option)) next.add(option)
    setChosen(next)
  }
  return (
    <>
      <p className="mb-3 font-medium">{question}</p>
      {files.length > 0 && (
        <ul aria-label="Files" className="mb-3 font-mono text-xs leading-6">
          {files.map((file) => (
            <li key={file}>{file}</li>
          ))}
        </ul>
      )}
      {options.some(({ description }) => description !== undefined) && (
        <dl className="mb-3 text-sm">
          {options.map(({ description, label }) => (
            <div key={label} className="flex gap-2">
              <dt className="font-medium">{label}</dt>
              <dd className="text-(--soft)">{description}</dd>
            </div>
          ))}
        </dl>
      )}
      <div className="mb-2 flex flex-wrap gap-2">
        {options.map(({ label }) => (
          <Button
            key={label}
            kind={chosen.has(label) ? 'primary' : 'plain'}
            aria-pressed={isMultiple ? chosen.has(label) : undefined}
            onClick={() => (isMultiple ? toggle(label) : answer(label))}
          >
            {label}
          </Button>
        ))}
      </div>
      {isMultiple ? (
        <Button kind="primary" disabled={chosen.size === 0} onClick={() => answer([...chosen])}>
          Answer
        </Button>
      ) : isClosed ? null : (
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            answer(text)
          }}
        >
          <input
            aria-label="Your answer"
            placeholder="Your answer"
            className="min-w-0 flex-1 rounded-lg border border-(--line) bg-(--bg) px-3 py-1.5 text-sm"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" kind="primary" disabled={text.trim() === ''}>
            Answer
          </Button>
        </form>
      )}
    </>
  )
}

function Plan({ send, wait }: { readonly wait: PendingApproval; readonly send: Send }): ReactNode {
  const { payload = {}, toolCallId } = wait
  const plan = payload['plan'] ?? payload['content']
  return (
    <>
      <p className="mb-2 font-medium">
        Approve this plan?{typeof payload['title'] === 'string' ? ` ${payload['title']}` : ''}
      </p>
      {typeof plan === 'string' && (
        <div className="mb-3 max-h-72 overflow-y-auto rounded border border-(--line) p-3">
          <Markdown text={plan} />
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" onClick={() => send({ type: 'approve', toolCallId, answer: { action: 'approved' } })}>
          Approve the plan
        </Button>
        <Deny toolCallId={toolCallId} label="Reject" send={send} />
      </div>
    </>
  )
}
