import { useEffect, useState, type ReactNode } from 'react'
import { connectHere, type Connected } from './connection.ts'
import { followSystemTheme } from './theme.ts'
import { FailureScreen } from './views/failure-screen.tsx'
import { PairingView } from './views/pairing.tsx'
import { Workbench } from './views/workbench.tsx'

export function App(): ReactNode {
  const [connected, setConnected] = useState<Connected | undefined>(undefined)
  const [attempt, setAttempt] = useState(0)
  useEffect(followSystemTheme, [])
  useEffect(() => {
    let isCurrent = true
    let close: (() => void) | undefined
    void connectHere().then((found) => {
      if ('client' in found) close = () => void found.client.close()
      if (isCurrent) setConnected(found)
      else close?.()
    })
    return () => {
      isCurrent = false
      close?.()
    }
  }, [attempt])
  if (connected === undefined) return <Notice>Connecting…</Notice>
  if ('needsCode' in connected)
    return <PairingView failed={connected.problem} onPaired={() => setAttempt(attempt + 1)} />
  if ('failed' in connected) {
    return (
      <Notice>
        The server cannot be reached: {connected.failed}{' '}
        <button className="underline" onClick={() => setAttempt(attempt + 1)}>
          Try again
        </button>
      </Notice>
    )
  }
  return (
    <FailureScreen>
      <Workbench client={connected.client} />
    </FailureScreen>
  )
}

function Notice({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <main className="flex h-full items-center justify-center p-6 text-center">
      <p>{children}</p>
    </main>
  )
}
