/** Stands in for a chat service: it shows what the bot posts and lets a person reply. */
export class ChatRoom {
  readonly #replies: readonly string[]
  #reply: (text: string) => void = () => undefined
  #next = 0

  constructor(replies: readonly string[]) {
    this.#replies = replies
  }

  onReply(listener: (text: string) => void): void {
    this.#reply = listener
  }

  post(text: string): void {
    console.log(`bot: ${text}`)
    const reply = this.#replies[this.#next]
    if (!text.endsWith('?') || reply === undefined) return
    this.#next += 1
    console.log(`ann: ${reply}`)
    this.#reply(reply)
  }
}
