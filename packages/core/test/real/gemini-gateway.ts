import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'

interface GeminiPart {
  readonly text?: string
  readonly functionCall?: { readonly name: string; readonly args: unknown }
}

interface GeminiRequest {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly GeminiPart[] }[]
  readonly systemInstruction?: { readonly parts?: readonly GeminiPart[] }
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[]
}

interface ChatAnswer {
  readonly choices?: readonly {
    readonly message: {
      readonly content: string | null
      readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[]
    }
  }[]
}

/** Speaks Gemini's protocol with a client, and has each request answered as a chat completion by another provider. */
export async function startGeminiGateway(provider: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const body = await readText(request)
      const path = request.url ?? ''
      if (path.includes(':countTokens')) {
        response.end(JSON.stringify({ totalTokens: Math.ceil(body.length / 4) }))
        return
      }
      const asked = await fetch(`${provider}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(toChat(JSON.parse(body) as GeminiRequest)),
      })
      const whole = JSON.stringify(fromChat((await asked.json()) as ChatAnswer))
      const isStream = path.includes(':streamGenerateContent')
      response.writeHead(asked.status, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      response.end(isStream ? `data: ${whole}\n\n` : whole)
    }
    answer().catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function toChat({ contents = [], systemInstruction, tools = [] }: GeminiRequest): object {
  const join = (parts: readonly GeminiPart[] = []): string => parts.map((part) => JSON.stringify(part)).join('\n')
  const messages = contents.map(({ role, parts }) => ({
    role: role === 'model' ? 'assistant' : 'user',
    content: join(parts),
  }))
  const functions = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
  return {
    model: 'scripted',
    messages: [{ role: 'system', content: join(systemInstruction?.parts) }, ...messages],
    tools: functions.map(({ name }) => ({ type: 'function', function: { name } })),
  }
}

function fromChat({ choices = [] }: ChatAnswer): object {
  const message = choices[0]?.message
  const calls = (message?.tool_calls ?? []).map((call) => ({
    functionCall: { name: call.function.name, args: JSON.parse(call.function.arguments) as unknown },
  }))
  const parts: GeminiPart[] = [...(message?.content ? [{ text: message.content }] : []), ...calls]
  return {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
  }
}
