import { ArrowLeft, Pause, Play } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { VList, type VListHandle } from 'virtua'
import type { Client } from '@inspan/client'
import type { WireMessage } from '@inspan/protocol/wire'
import { allMessages } from '../export-thread.ts'
import { NestedContext, splitNested } from '../nested.ts'
import { Button } from '../parts/button.tsx'
import { replayOf } from '../replay-frames.ts'
import { shownMessages } from '../shown-messages.ts'
import { Message } from './message.tsx'

interface ReplayProps {
  readonly client: Client
  readonly thread: string
  readonly onOpen: (thread: string) => void
}

const FRAME_MS = 120
const SPEEDS = [1, 2, 5, 20] as const

/** Shows again how a conversation went. Nothing is run, and nobody is asked. */
export function ReplayView({ client, onOpen, thread }: ReplayProps): ReactNode {
  const [messages, setMessages] = useState<readonly WireMessage[] | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    allMessages(client, thread).then(
      (stored) => isCurrent && setMessages(shownMessages(stored)),
      (error: unknown) => isCurrent && setProblem(error instanceof Error ? error.message : String(error)),
    )
    return () => {
      isCurrent = false
    }
  }, [client, thread])
  if (problem !== undefined) return <p className="p-4 text-(--bad)">This thread cannot be replayed: {problem}</p>
  if (messages === undefined) return <p className="p-4 text-(--soft)">Reading the conversation…</p>
  return <Player client={client} thread={thread} messages={messages} onBack={() => onOpen(thread)} />
}

interface PlayerProps {
  readonly client: Client
  readonly thread: string
  readonly messages: readonly WireMessage[]
  readonly onBack: () => void
}

function Player({ client, messages, onBack, thread }: PlayerProps): ReactNode {
  const replay = useMemo(() => replayOf(messages), [messages])
  const [frame, setFrame] = useState(0)
  const [isPlaying, setPlaying] = useState(true)
  const [speed, setSpeed] = useState<number>(SPEEDS[0])
  const list = useRef<VListHandle>(null)
  const isOver = frame >= replay.last
  useEffect(() => {
    if (!isPlaying || isOver) return
    const timer = setInterval(() => setFrame((now) => Math.min(replay.last, now + 1)), FRAME_MS / speed)
    return () => clearInterval(timer)
  }, [isPlaying, isOver, replay, speed])
  const { byCall, top } = useMemo(() => splitNested(replay.at(frame)), [frame, replay])
  const nested = useMemo(
    () => ({ client, thread, messages: () => messages, byCall }),
    [byCall, client, messages, thread],
  )
  useEffect(() => {
    list.current?.scrollToIndex(top.length - 1, { align: 'end' })
  }, [top])
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-b border-(--line) px-3 py-2">
        <h1 className="font-semibold">Replay</h1>
        <Button
          aria-label={isOver ? 'Play again' : isPlaying ? 'Pause' : 'Play'}
          onClick={() => {
            if (isOver) setFrame(0)
            setPlaying(isOver || !isPlaying)
          }}
        >
          {isPlaying && !isOver ? <Pause size={14} /> : <Play size={14} />}
        </Button>
        <input
          type="range"
          aria-label="Position in the replay"
          aria-valuetext={`${frame} of ${replay.last}`}
          className="min-w-32 flex-1"
          min={0}
          max={replay.last}
          value={frame}
          onChange={(event) => {
            setPlaying(false)
            setFrame(Number(event.target.value))
          }}
        />
        <select
          aria-label="Speed"
          className="rounded-lg border border-(--line) bg-(--bg) px-2 py-1 text-sm"
          value={speed}
          onChange={(event) => setSpeed(Number(event.target.value))}
        >
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
        <Button onClick={onBack}>
          <ArrowLeft size={14} className="mr-1 inline" />
          Back to the thread
        </Button>
      </div>
      <section aria-label="Replayed conversation" className="min-h-0 flex-1">
        <NestedContext value={nested}>
          <VList ref={list} data={top} className="h-full" tabIndex={0}>
            {(message) => <Message key={message.id} message={message} />}
          </VList>
        </NestedContext>
      </section>
    </>
  )
}
