import type { ReactNode } from 'react'

export function Section({ children, title }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section aria-label={title} className="mb-5">
      <h3 className="mb-1 text-xs font-semibold tracking-wide text-(--soft) uppercase">{title}</h3>
      {children}
    </section>
  )
}
