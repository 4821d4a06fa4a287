import { Component, type ReactNode } from 'react'
import { Button } from '../parts/button.tsx'

interface FailureState {
  readonly message?: string
}

/** Instead of an empty page: what went wrong, and what to do. Parts of an older page are gone after an update. */
export class FailureScreen extends Component<{ readonly children: ReactNode }, FailureState> {
  override state: FailureState = {}

  static getDerivedStateFromError(error: unknown): FailureState {
    return { message: error instanceof Error ? error.message : String(error) }
  }

  override render(): ReactNode {
    const { message } = this.state
    if (message === undefined) return this.props.children
    return (
      <main className="flex h-full flex-col items-center justify-center gap-3 p-6 text-center">
        <h1 className="text-xl font-semibold">This part of the page cannot be shown</h1>
        <p role="alert">After an update of the server, load the page again.</p>
        <p className="text-sm break-all text-(--soft)">{message}</p>
        <Button kind="primary" onClick={() => location.reload()}>
          Load the page again
        </Button>
      </main>
    )
  }
}
