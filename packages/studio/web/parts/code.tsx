import type { ReactNode } from 'react'
import { useCodeLines, type CodeToken } from '../highlight.ts'

/** A block of code, coloured as soon as it does not grow any more. */
export function Code({ language, text }: { readonly text: string; readonly language: string | undefined }): ReactNode {
  const lines = useCodeLines(text, language)
  return (
    <pre tabIndex={0} aria-label={language === undefined || language === '' ? 'Code' : `Code: ${language}`}>
      <code>
        {lines === undefined
          ? text
          : lines.map((tokens, index) => (
              <span key={index}>
                <Tokens tokens={tokens} />
                {'\n'}
              </span>
            ))}
      </code>
    </pre>
  )
}

export function Tokens({ tokens }: { readonly tokens: readonly CodeToken[] }): ReactNode {
  return tokens.map(({ style, text }, index) => (
    <span key={index} className="code-token" style={style}>
      {text}
    </span>
  ))
}
