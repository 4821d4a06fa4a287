import { Dialog } from 'radix-ui'
import { useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { Button } from '../parts/button.tsx'

interface DeleteDialogProps {
  readonly client: Client
  readonly onClose: () => void
  readonly onDeleted: () => void
}

/** Asks before a thread is gone for good. */
export function DeleteDialog({ client, onClose, onDeleted }: DeleteDialogProps): ReactNode {
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const remove = async (): Promise<void> => {
    try {
      await client.routes.deleteThread(client.getState().thread)
      onClose()
      onDeleted()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 bg-black/50" />
        <Dialog.Content className="fixed top-1/2 left-1/2 z-30 w-[min(28rem,90vw)] -translate-1/2 rounded-xl bg-(--bg) p-5">
          <Dialog.Title className="text-lg font-semibold">Delete this thread?</Dialog.Title>
          <Dialog.Description className="mb-3 text-sm text-(--soft)">
            The conversation is deleted for good. Files that the agent changed stay as they are.
          </Dialog.Description>
          {problem !== undefined && (
            <p role="alert" className="mb-3 text-sm text-(--bad)">
              {problem}
            </p>
          )}
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>Keep it</Button>
            <Button kind="danger" onClick={() => void remove()}>
              Delete
            </Button>
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
