import { Dialog } from 'radix-ui'
import { useCallback, useEffect, useState, type ReactNode } from 'react'
import type { Client, TokenSummary } from '@inspan/client'
import { Button } from '../parts/button.tsx'
import { shortTime } from '../short-time.ts'

const MAY = { view: 'may read', approve: 'may answer', drive: 'may do everything' } as const

/** Who may use the server. A code of the server's terminal works once; this is where another one comes from. */
export function DevicesDialog({
  client,
  onClose,
}: {
  readonly client: Client
  readonly onClose: () => void
}): ReactNode {
  const { routes } = client
  const [devices, setDevices] = useState<readonly TokenSummary[]>([])
  const [address, setAddress] = useState<string | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const attempt = useCallback(async (act: () => Promise<unknown>): Promise<void> => {
    try {
      await act()
      setProblem(undefined)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }, [])
  const list = useCallback(async () => setDevices(await routes.tokens()), [routes])
  useEffect(() => void attempt(list), [attempt, list])
  const pair = async (): Promise<void> => {
    const { code } = await routes.pairingCode()
    setAddress(`${location.origin}/#code=${code}`)
  }
  const revoke = async (id: string): Promise<void> => {
    await routes.revokeToken(id)
    await list()
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 bg-black/50" />
        <Dialog.Content className="fixed top-1/2 left-1/2 z-30 max-h-[90vh] w-[min(32rem,92vw)] -translate-1/2 overflow-y-auto rounded-xl bg-(--bg) p-5">
          <Dialog.Title className="text-lg font-semibold">Devices</Dialog.Title>
          <Dialog.Description className="mb-3 text-sm text-(--soft)">
            Browsers and programs that may use this server.
          </Dialog.Description>
          {problem !== undefined && (
            <p role="alert" className="mb-3 text-sm text-(--bad)">
              {problem}
            </p>
          )}
          <ul aria-label="Devices" className="mb-3 space-y-1 text-sm">
            {devices.map(({ createdAt, id, isOwner, name, role }) => (
              <li key={id} className="flex items-center gap-2">
                <span className="min-w-0 flex-1 truncate" title={name}>
                  {name}
                </span>
                <span className="shrink-0 text-xs text-(--soft)">
                  {isOwner === true ? 'programs of this user' : `${MAY[role]}, ${shortTime(createdAt)}`}
                </span>
                {isOwner !== true && (
                  <Button aria-label={`Revoke ${name}`} onClick={() => void attempt(() => revoke(id))}>
                    Revoke
                  </Button>
                )}
              </li>
            ))}
          </ul>
          {address !== undefined && (
            <>
              <p className="text-sm">Open this address in the other browser, once and within five minutes:</p>
              <pre
                aria-label="Address for the other browser"
                className="mb-3 overflow-x-auto rounded bg-(--panel) p-2 text-xs"
                tabIndex={0}
              >
                {address}
              </pre>
            </>
          )}
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={onClose}>Close</Button>
            <Button kind="primary" onClick={() => void attempt(pair)}>
              Pair another browser
            </Button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
