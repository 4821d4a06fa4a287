import { Dialog } from 'radix-ui'
import { useEffect, useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import type { JsonObject } from '@inspan/protocol'
import type { ReceiptMessage } from '@inspan/protocol/wire'
import { Button } from '../parts/button.tsx'

interface RewindDialogProps {
  readonly client: Client
  readonly messageId: string
  readonly onClose: () => void
}

const LISTS = [
  ['restored', 'Would be restored'],
  ['removed', 'Would be removed'],
  ['conflicts', 'Stay as they are, because somebody else changed them'],
  ['notCovered', 'Stay as they are, because no checkpoint covers them'],
] as const

/** What the dry run has found, file by file. */
function Report({ result }: { readonly result: ReceiptMessage['result'] }): ReactNode {
  const report = typeof result === 'object' && result !== null && !Array.isArray(result) ? (result as JsonObject) : {}
  const lists = LISTS.flatMap(([key, title]) => {
    const paths = report[key]
    return Array.isArray(paths) && paths.length > 0 ? [{ title, paths: paths.map(String) }] : []
  })
  if (lists.length === 0) return <p className="mb-3 text-sm">No file would change.</p>
  return (
    <div className="mb-3 max-h-60 overflow-auto rounded bg-(--panel) p-2 text-sm">
      {lists.map(({ paths, title }) => (
        <div key={title} className="mb-1">
          <p className="text-(--soft)">{title}</p>
          <ul className="font-mono text-xs">
            {paths.map((path) => (
              <li key={path}>{path}</li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  )
}

/** Shows what a rewind would change before it is done. */
export function RewindDialog({ client, messageId, onClose }: RewindDialogProps): ReactNode {
  const [preview, setPreview] = useState<ReceiptMessage | undefined>(undefined)
  useEffect(() => {
    void client.send({ type: 'rewind', messageId, dryRun: true }).receipt.then(setPreview)
  }, [client, messageId])
  const rewind = (scope: 'files' | 'conversation' | 'both'): void => {
    client.send({ type: 'rewind', messageId, scope })
    onClose()
  }
  const canFiles = preview?.status === 'done'
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 bg-black/50" />
        <Dialog.Content className="fixed top-1/2 left-1/2 z-30 w-[min(38rem,92vw)] -translate-1/2 rounded-xl bg-(--bg) p-5">
          <Dialog.Title className="text-lg font-semibold">Rewind to before this message?</Dialog.Title>
          <Dialog.Description className="mb-3 text-sm text-(--soft)">
            Everything from this message on leaves the conversation. To keep it, fork the thread at its last message
            first.
          </Dialog.Description>
          {preview === undefined && <p>Looking at what would change…</p>}
          {preview !== undefined && !canFiles && (
            <p className="mb-3 text-sm">Files cannot be restored here: {preview.message ?? preview.status}</p>
          )}
          {canFiles && <Report result={preview.result} />}
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={onClose}>Keep as it is</Button>
            <Button onClick={() => rewind('conversation')}>Conversation only</Button>
            {canFiles && <Button onClick={() => rewind('files')}>Files only</Button>}
            {canFiles && (
              <Button kind="primary" onClick={() => rewind('both')}>
                Files and conversation
              </Button>
            )}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
