import { useEffect, useRef, useState, type ReactNode } from 'react'
import { pair } from '../connection.ts'
import { Button } from '../parts/button.tsx'

/** The first visit of a browser: it proves itself with the code that the server has printed. */
export function PairingView({ onPaired }: { readonly onPaired: () => void }): ReactNode {
  const given = useRef(new URLSearchParams(location.hash.slice(1)).get('code') ?? '')
  const [code, setCode] = useState(given.current)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const submit = async (): Promise<void> => {
    const failed = await pair(code)
    setProblem(failed)
    if (failed !== undefined) return
    history.replaceState(null, '', location.pathname)
    onPaired()
  }
  useEffect(() => {
    // The address that the server prints holds the code, which works once.
    if (given.current !== '') void submit()
    given.current = ''
  })
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
