import DOMPurify from 'dompurify'
import { marked } from 'marked'
import { memo, useMemo, type ReactNode } from 'react'
import remend from 'remend'
import { Code } from './code.tsx'

/** Markdown as it streams in: split into blocks, of which only the last changes. */
export function Markdown({ text }: { readonly text: string }): ReactNode {
  const blocks = useMemo(() => marked.lexer(remend(text)), [text])
  return (
    <div className="prose-text break-words">
      {blocks.map((block, index) =>
        block.type === 'code' ? (
          <Code key={index} text={String(block['text'])} language={languageOf(block['lang'])} />
        ) : (
          <Block key={index} source={block.raw} />
        ),
      )}
    </div>
  )
}

function languageOf(language: unknown): string | undefined {
  return typeof language === 'string' ? language : undefined
}

const Block = memo(function Block({ source }: { readonly source: string }): ReactNode {
  // Models quote what they read: nothing of it may run, load or leave the page by itself.
  const html = DOMPurify.sanitize(marked.parse(source, { async: false }), {
    FORBID_TAGS: ['style', 'form', 'input', 'img', 'video', 'audio', 'iframe', 'svg', 'math'],
    FORBID_ATTR: ['style', 'class', 'id'],
  })
  return <div dangerouslySetInnerHTML={{ __html: html }} />
})

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer')
})
