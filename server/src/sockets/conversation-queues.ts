/**
 * What happens in one conversation is published in the order in which it happened, also where something must be read before
 * it can be published: then what comes behind waits.
 */
export class ConversationQueues {
  private readonly queues = new Map<string, Promise<void>>()
  private waiting = 0

  isEmpty(key: string): boolean {
    return !this.queues.has(key)
  }

  /** How much waits in all queues. */
  get length(): number {
    return this.waiting
  }

  /** Runs `job` when all before it in this queue are through. It must not throw. */
  add(key: string, job: () => Promise<void>): void {
    this.waiting++
    const before = this.queues.get(key)
    const run = (before === undefined ? job() : before.then(job)).then(() => {
      this.waiting--
      if (this.queues.get(key) === run) this.queues.delete(key)
    })
    this.queues.set(key, run)
  }

  /** Resolves when nothing waits. */
  async drain(): Promise<void> {
    while (this.queues.size > 0) await Promise.all(this.queues.values())
  }
}
