import { Dialog } from 'radix-ui'
import { useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { Button } from '../parts/button.tsx'

export function RenameDialog({
  client,
  onClose,
}: {
  readonly client: Client
  readonly onClose: () => void
}): ReactNode {
  const [title, setTitle] = useState(client.getState().head.title ?? '')
  const rename = (): void => {
    client.send({ type: 'rename', title: title.trim() })
    onClose()
  }
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 bg-black/50" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-1/2 left-1/2 z-30 w-[min(28rem,90vw)] -translate-1/2 rounded-xl bg-(--bg) p-5"
        >
          <Dialog.Title className="mb-3 text-lg font-semibold">Rename this thread</Dialog.Title>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              rename()
            }}
          >
            <input
              aria-label="New title"
              autoFocus
              className="mb-3 w-full rounded-lg border border-(--line) bg-(--bg) px-3 py-1.5"
              value={title}
              onChange={(event) => setTitle(event.target.value)}
              onFocus={(event) => event.target.select()}
            />
            <div className="flex justify-end gap-2">
              <Button onClick={onClose}>Keep it</Button>
              <Button type="submit" kind="primary" disabled={title.trim() === ''}>
                Rename
              </Button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
