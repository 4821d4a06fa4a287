import { HarnessAgent } from '@ai-sdk/harness/agent'
import { tool } from 'ai'
import { codingAgent, deploy, description, inputSchema, isRestarted, report, sandboxSession } from './shared.mjs'

const agent = new HarnessAgent({
  id: 'app',
  harness: codingAgent,
  tools: { deploy: tool({ description, inputSchema, execute: deploy }) },
  toolApproval: { deploy: 'user-approval' },
})
const session = await agent.createSession({ sessionId: 'app', sandboxSession })
if (!isRestarted) {
  const { stream } = await agent.stream({ session, prompt: 'Deploy 1.2.' })
  for await (const part of stream) {
    if (part.type === 'tool-approval-request') report(`asked ${part.toolCall.toolName}`)
    if (part.type === 'text-delta') report(part.text)
  }
}
