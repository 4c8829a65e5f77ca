import pg from 'pg'

interface Wire {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sync(): void
}

/** Reads a table by `copy .. to stdout`, or writes one by `copy .. from stdin`, over a connection of its own. */
class Copy {
  readonly chunks: Buffer[] = []
  readonly #text: string
  readonly #lines: readonly Buffer[] | undefined
  readonly done: Promise<void>
  #settle!: { resolve(): void; reject(error: Error): void }

  constructor(text: string, lines?: readonly Buffer[]) {
    this.#text = text
    this.#lines = lines
    this.done = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
  }

  submit(wire: Wire): void {
    wire.query(this.#text)
  }

  handleCopyInResponse(wire: Wire): void {
    for (const line of this.#lines ?? []) wire.sendCopyFromChunk(line)
    wire.endCopyFrom()
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.chunks.push(Buffer.from(chunk))
  }

  handleError(error: Error): void {
    this.#settle.reject(error)
  }

  handleReadyForQuery(): void {
    this.#settle.resolve()
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
}

/** Copies the messages of a database into an empty table like theirs in another. @returns the rows and the seconds of writing */
export async function copyMessages(
  from: pg.ClientConfig,
  to: pg.ClientConfig,
): Promise<{ readonly rows: number; readonly seconds: number }> {
  const [source, target] = [new pg.Client(from), new pg.Client(to)]
  await Promise.all([source.connect(), target.connect()])
  try {
    const { rows } = await source.query<{ name: string }>(
      `select quote_ident(attname) as name
      from pg_attribute
      where attrelid = 'messages'::regclass
      and attnum > 0
      and not attisdropped
      and attgenerated = ''
      order by attnum`,
    )
    const columns = rows.map(({ name }) => name).join(', ')
    const read = new Copy(`copy (select ${columns} from messages order by app_id, id) to stdout`)
    source.query(read as unknown as pg.Submittable)
    await read.done
    await target.query('create unlogged table if not exists copied (like messages including all)')
    await target.query('alter table copied set logged')
    await target.query('truncate copied')
    const startedAt = performance.now()
    const write = new Copy(`copy copied (${columns}) from stdin`, read.chunks)
    target.query(write as unknown as pg.Submittable)
    await write.done
    const seconds = (performance.now() - startedAt) / 1000
    await target.query('drop table copied')
    return { rows: read.chunks.length, seconds }
  } finally {
    await Promise.all([source.end(), target.end()])
  }
}
