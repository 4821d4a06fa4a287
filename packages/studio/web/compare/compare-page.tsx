import type { ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { goTo } from '../route.ts'
import type { Choices } from '../use-choices.ts'
import { CompareForm } from './compare-form.tsx'
import { CompareView } from './compare-view.tsx'
import { findComparison } from './comparisons.ts'

interface ComparePageProps {
  readonly client: Client
  readonly choices: Choices
  readonly comparison: string | undefined
  readonly onOpen: (thread: string) => void
  readonly onChange: () => void
}

export function ComparePage({ choices, client, comparison, onChange, onOpen }: ComparePageProps): ReactNode {
  const kept = findComparison(comparison)
  if (kept === undefined) {
    return (
      <CompareForm
        client={client}
        modes={choices.modes}
        models={choices.models}
        onStart={(id) => goTo({ view: 'compare', comparison: id })}
      />
    )
  }
  return (
    <CompareView
      key={kept.id}
      client={client}
      comparison={kept}
      onOpen={onOpen}
      onChange={onChange}
      onDone={() => goTo({ view: 'compare' })}
    />
  )
}
