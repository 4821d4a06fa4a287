import { Menu } from 'lucide-react'
import { lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { installWorker, notifyWhenWaiting } from '../notify.ts'
import { goTo, useRoute } from '../route.ts'
import { useChoices } from '../use-choices.ts'
import { useOlderMessages } from '../use-older-messages.ts'
import { useOverview } from '../use-overview.ts'
import { useThreads } from '../use-threads.ts'
import { Composer, submitPrompt } from './composer.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { Details } from './details.tsx'
import { Header } from './header.tsx'
import { Home, type ThreadStart } from './home.tsx'
import { LimitBar } from './limits.tsx'
import { Palette } from './palette.tsx'
import { RewindDialog } from './rewind-dialog.tsx'
import { Sidebar } from './sidebar.tsx'
import { Transcript } from './transcript.tsx'
import { Waits } from './waits.tsx'

const Replay = lazy(async () => ({ default: (await import('./replay.tsx')).ReplayView }))
const Devices = lazy(async () => ({ default: (await import('./devices-dialog.tsx')).DevicesDialog }))
const Rename = lazy(async () => ({ default: (await import('./rename-dialog.tsx')).RenameDialog }))
const Compare = lazy(async () => ({ default: (await import('../compare/compare-page.tsx')).ComparePage }))

type ShownDialog =
  | { readonly name: 'palette' | 'delete' | 'rename' | 'devices' }
  | { readonly name: 'rewind'; readonly messageId: string }

/** The whole page: threads on the left, the conversation in the middle, what else there is to know on the right. */
export function Workbench({ client }: { readonly client: Client }): ReactNode {
  const route = useRoute()
  const { state: thread } = useHarness(client, (state) => state.thread)
  const { state: signal } = useHarness(client, (state) => `${state.status} ${state.head.title ?? ''}`)
  const overview = useOverview(client, signal)
  // Threads come, go and change their titles in other tabs, too.
  const known = overview.threads?.map(({ id, title }) => `${id} ${title ?? ''}`).join('\n') ?? ''
  const threads = useThreads(client, `${thread} ${signal} ${known}`)
  const choices = useChoices(client)
  const older = useOlderMessages(client)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [areDetailsOpen, setDetailsOpen] = useState(false)
  const [dialog, setDialog] = useState<ShownDialog | undefined>(undefined)
  const close = (): void => setDialog(undefined)
  const open = useCallback((id: string) => {
    setMenuOpen(false)
    goTo({ view: 'thread', thread: id })
  }, [])
  const create = useCallback(
    async (start?: ThreadStart) => {
      const { head, messages, thread: shown } = client.getState()
      // A thread in which nothing was said is as good as a new one.
      const isFresh = shown !== '' && messages.length === 0 && head.title === null && head.run === null
      const id = isFresh ? shown : (await client.routes.createThread()).id
      await client.open(id)
      open(id)
      if (start === undefined) return
      const { mode, model, prompt } = start
      if (mode !== undefined) client.send({ type: 'mode', mode })
      if (model !== undefined) client.send({ type: 'model', model })
      submitPrompt(client, prompt)
    },
    [client, open],
  )
  const wanted = route.view === 'thread' ? route.thread : undefined
  useEffect(() => {
    if (wanted !== undefined) void client.open(wanted).catch(() => goTo({ view: 'home' }))
  }, [client, wanted])
  useEffect(() => installWorker(open), [open])
  useEffect(() => notifyWhenWaiting(overview.threads ?? []), [overview.threads])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      setDialog({ name: 'palette' })
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <div className="flex h-full">
      <div className={`${isMenuOpen ? 'fixed inset-0 z-20 flex' : 'hidden'} md:static md:flex`}>
        <Sidebar
          client={client}
          threads={threads}
          overview={overview}
          current={route.view === 'thread' ? thread : ''}
          onOpen={open}
          onNew={() => void create()}
          onMove={() => setMenuOpen(false)}
          onPalette={() => {
            setMenuOpen(false)
            setDialog({ name: 'palette' })
          }}
        />
        {isMenuOpen && (
          <button
            className="flex-1 bg-black/50 md:hidden"
            aria-label="Close the list of threads"
            onClick={() => setMenuOpen(false)}
          />
        )}
      </div>
      <main className="flex min-w-0 flex-1 flex-col">
        {route.view === 'thread' ? (
          <Header
            client={client}
            choices={choices}
            onMenu={() => setMenuOpen(true)}
            onDetails={() => setDetailsOpen(!areDetailsOpen)}
            onPalette={() => setDialog({ name: 'palette' })}
          />
        ) : (
          <button
            className="m-2 self-start rounded-lg p-1.5 hover:bg-(--panel) md:hidden"
            aria-label="Show threads"
            onClick={() => setMenuOpen(true)}
          >
            <Menu size={18} />
          </button>
        )}
        <ConnectionBar client={client} isThreadShown={route.view === 'thread'} />
        {route.view === 'home' && (
          <Home
            client={client}
            overview={overview}
            onOpen={open}
            choices={choices}
            onNew={(start) => void create(start)}
            onCompare={() => goTo({ view: 'compare' })}
          />
        )}
        {route.view === 'compare' && (
          <Suspense fallback={<p className="p-4">Loading…</p>}>
            <Compare
              client={client}
              choices={choices}
              comparison={route.comparison}
              onOpen={open}
              onChange={overview.reload}
            />
          </Suspense>
        )}
        {route.view === 'replay' && (
          <Suspense fallback={<p className="p-4">Loading…</p>}>
            <Replay key={route.thread} client={client} thread={route.thread} onOpen={open} />
          </Suspense>
        )}
        {route.view === 'thread' && (
          <>
            <LimitBar client={client} />
            <Transcript client={client} older={older} onOpen={open} />
            <Waits client={client} />
            <Composer client={client} />
          </>
        )}
      </main>
      {areDetailsOpen && route.view === 'thread' && (
        <Details
          client={client}
          choices={choices}
          older={older}
          onClose={() => setDetailsOpen(false)}
          onDelete={() => setDialog({ name: 'delete' })}
        />
      )}
      {dialog?.name === 'delete' && (
        <DeleteDialog
          client={client}
          onClose={close}
          onDeleted={() => {
            threads.reload()
            overview.reload()
            goTo({ view: 'home' })
          }}
        />
      )}
      {dialog?.name === 'rewind' && <RewindDialog client={client} messageId={dialog.messageId} onClose={close} />}
      <Suspense>
        {dialog?.name === 'rename' && <Rename client={client} onClose={close} />}
        {dialog?.name === 'devices' && <Devices client={client} onClose={close} />}
      </Suspense>
      {dialog?.name === 'palette' && (
        <Palette
          client={client}
          choices={choices}
          isThreadShown={route.view === 'thread'}
          onClose={close}
          onOpen={open}
          onNew={() => void create()}
          onDetails={() => setDetailsOpen(true)}
          onDelete={() => setDialog({ name: 'delete' })}
          onRename={() => setDialog({ name: 'rename' })}
          onRewind={(messageId) => setDialog({ name: 'rewind', messageId })}
          onDevices={() => setDialog({ name: 'devices' })}
        />
      )}
    </div>
  )
}
