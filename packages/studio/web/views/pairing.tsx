import { useState, type ReactNode } from 'react'
import { pair } from '../connection.ts'
import { Button } from '../parts/button.tsx'

interface PairingProps {
  /** Why the code in the address was refused. */
  readonly failed: string | undefined
  readonly onPaired: () => void
}

/** The first visit of a browser: it proves itself with the code that the server has printed. */
export function PairingView({ failed, onPaired }: PairingProps): ReactNode {
  const [code, setCode] = useState('')
  const [problem, setProblem] = useState(failed)
  const submit = async (): Promise<void> => {
    const refused = await pair(code)
    setProblem(refused)
    if (refused === undefined) onPaired()
  }
  return (
    <main className="mx-auto flex h-full max-w-sm flex-col justify-center gap-4 p-6">
      <h1 className="text-2xl font-semibold">Inspan</h1>
      <p className="text-(--soft)">Enter the one-time code that the server has printed in its terminal.</p>
      <form
        className="flex gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <input
          aria-label="One-time code"
          autoFocus
          className="min-w-0 flex-1 rounded-lg border border-(--line) bg-(--bg) px-3 py-2 font-mono"
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <Button type="submit" kind="primary">
          Connect
        </Button>
      </form>
      {problem !== undefined && (
        <p role="alert" className="text-(--bad)">
          {problem} Run <code>inspan serve</code> again for a new one.
        </p>
      )}
    </main>
  )
}
