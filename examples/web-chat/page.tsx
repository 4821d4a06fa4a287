import { connect, type Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { useState, type ReactElement } from 'react'
import { createRoot } from 'react-dom/client'

function Chat({ client }: { readonly client: Client }): ReactElement {
  const { state, send } = useHarness(client)
  const [draft, setDraft] = useState('')
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault()
    send({ type: 'submit', prompt: draft })
    setDraft('')
  }
  return (
    <main>
      <ol>
        {state.messages.map((message) => (
          <li key={message.id} className={message.role}>
            {message.content}
          </li>
        ))}
      </ol>
      <form onSubmit={submit}>
        <input aria-label="Message" value={draft} onChange={(event) => setDraft(event.target.value)} />
        <button disabled={draft === ''}>Send</button>
      </form>
    </main>
  )
}

// The address has a code behind "#" that is good for one browser and once.
const code = location.hash.slice(1)
if (code !== '') {
  const headers = { 'content-type': 'application/json' }
  await fetch('/v1/pair', { method: 'POST', headers, body: JSON.stringify({ code }) })
  history.replaceState(null, '', '/')
}
const client = await connect({ url: location.origin })
const root = document.querySelector('#root')
if (root !== null) createRoot(root).render(<Chat client={client} />)
