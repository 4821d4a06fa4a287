import type { ButtonHTMLAttributes, ReactNode } from 'react'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'primary' | 'plain' | 'danger'
}

const LOOKS = {
  primary: 'bg-(--accent) text-(--accent-text) border-transparent',
  plain: 'bg-(--bg) border-(--line) hover:bg-(--panel)',
  danger: 'bg-(--bg) border-(--line) text-(--bad) hover:bg-(--panel)',
} as const

export function Button({ kind = 'plain', className = '', type = 'button', ...rest }: ButtonProps): ReactNode {
  const look = `rounded-lg border px-3 py-1.5 text-sm font-medium disabled:opacity-50 ${LOOKS[kind]} ${className}`
  return <button type={type} className={look} {...rest} />
}
