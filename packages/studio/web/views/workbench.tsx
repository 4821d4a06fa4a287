import { useCallback, useEffect, useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { notifyWhenWaiting } from '../notify.ts'
import { useThreads } from '../use-threads.ts'
import { Composer } from './composer.tsx'
import { ConnectionBar } from './connection-bar.tsx'
import { Details } from './details.tsx'
import { Header } from './header.tsx'
import { Palette } from './palette.tsx'
import { Sidebar } from './sidebar.tsx'
import { Transcript } from './transcript.tsx'
import { Waits } from './waits.tsx'

/** The whole page: threads on the left, the conversation in the middle, what else there is to know on the right. */
export function Workbench({ client }: { readonly client: Client }): ReactNode {
  const { state: thread } = useHarness(client, (state) => state.thread)
  const { state: signal } = useHarness(client, (state) => `${state.status} ${state.head.title ?? ''}`)
  const threads = useThreads(client, `${thread} ${signal}`)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [areDetailsOpen, setDetailsOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const open = useCallback(
    (id: string) => {
      setMenuOpen(false)
      void client.open(id)
    },
    [client],
  )
  useEffect(() => notifyWhenWaiting(client), [client])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      setPaletteOpen(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <div className="flex h-full">
      <div className={`${isMenuOpen ? 'fixed inset-0 z-20 flex' : 'hidden'} md:static md:flex`}>
        <Sidebar client={client} threads={threads} current={thread} onOpen={open} />
        {isMenuOpen && (
          <button
            className="flex-1 bg-black/50 md:hidden"
            aria-label="Close the list of threads"
            onClick={() => setMenuOpen(false)}
          />
        )}
      </div>
      <main className="flex min-w-0 flex-1 flex-col">
        <Header
          client={client}
          onMenu={() => setMenuOpen(true)}
          onDetails={() => setDetailsOpen(!areDetailsOpen)}
          onPalette={() => setPaletteOpen(true)}
        />
        <ConnectionBar client={client} />
        <Transcript client={client} onOpen={open} />
        <Waits client={client} />
        <Composer client={client} />
      </main>
      {areDetailsOpen && <Details client={client} onClose={() => setDetailsOpen(false)} />}
      <Palette client={client} threads={threads} isOpen={isPaletteOpen} onChange={setPaletteOpen} onOpen={open} />
    </div>
  )
}
