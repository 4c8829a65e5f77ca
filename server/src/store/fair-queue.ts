import { type Reader, ReadsFullError } from './reader.ts'

/** How much runs and waits. What is in a queue belongs to a reader: a user of an app, or the app itself. */
export interface FairQueueLimits {
  readonly atOnce: number
  /** Less than `atOnce`: some are always left for other apps. */
  readonly atOncePerApp: number
  readonly atOncePerUser: number
  /** Of an app itself: its back end asks for many users. Less than `atOncePerApp`: some are left for its users. */
  readonly atOncePerKey: number
  readonly waitingPerReader: number
  readonly waitingPerApp: number
  readonly waiting: number
}

/** Something whose turn has come. */
export interface Turn<Job> {
  readonly job: Job
  /** To be called once it is over: its place is free for the next. */
  end(): void
  /** No further turn for the same reader. @returns lets them have turns again */
  rest(): () => void
}

/** What one reader has. */
interface Line<Job> {
  readonly name: string
  readonly atOnce: number
  readonly waiting: Set<Job>
  running: number
  /** So many have begun and not ended: no turn meanwhile. */
  rests: number
}

/** What one app has. */
interface AppLines<Job> {
  readonly appId: number
  readonly lines: Map<string, Line<Job>>
  /** Those that have something waiting and may run more: whose turn is next stands first. */
  readonly ready: Set<Line<Job>>
  waiting: number
  running: number
}

/**
 * A queue from which apps are served in turn, and within an app its readers: however much one of them asks for, the others
 * wait for one of it at most.
 */
export class FairQueue<Job> {
  readonly #limits: FairQueueLimits
  readonly #apps = new Map<number, AppLines<Job>>()
  /** Those with a reader that is ready, and which may run more: whose turn is next stands first. */
  readonly #ready = new Set<AppLines<Job>>()
  #waiting = 0
  #running = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#waiting
  }

  get running(): number {
    return this.#running
  }

  /**
   * @returns takes it out again, if it still waits
   * @throws ReadsFullError
   */
  add(reader: Reader, job: Job): () => boolean {
    const { waiting, waitingPerApp, waitingPerReader } = this.#limits
    const app = this.#appOf(reader)
    const line = this.#lineOf(app, reader)
    if (line.waiting.size >= waitingPerReader) throw new ReadsFullError('reader')
    if (app.waiting >= waitingPerApp || this.#waiting >= waiting) {
      this.#tidy(app, line)
      throw new ReadsFullError('all')
    }
    line.waiting.add(job)
    this.#count(app, 'waiting', 1)
    this.#tidy(app, line)
    return () => this.#leave(app, line, job)
  }

  /** Takes whose turn it is; undefined while nothing may run. */
  take(): Turn<Job> | undefined {
    if (this.#running >= this.#limits.atOnce) return undefined
    const [app] = this.#ready
    if (app === undefined) return undefined
    const [line] = app.ready as Set<Line<Job>>
    const [job] = (line as Line<Job>).waiting
    return this.#start(app, line as Line<Job>, job as Job)
  }

  #start(app: AppLines<Job>, line: Line<Job>, job: Job): Turn<Job> {
    line.waiting.delete(job)
    line.running++
    this.#count(app, 'waiting', -1)
    this.#count(app, 'running', 1)
    // Behind those who wait as well.
    app.ready.delete(line)
    this.#ready.delete(app)
    this.#tidy(app, line)
    return {
      job,
      end: () => {
        line.running--
        this.#count(app, 'running', -1)
        this.#tidy(app, line)
      },
      rest: () => this.#rest(app, line),
    }
  }

  #rest(app: AppLines<Job>, line: Line<Job>): () => void {
    line.rests++
    this.#tidy(app, line)
    return () => {
      line.rests--
      this.#tidy(app, line)
    }
  }

  #leave(app: AppLines<Job>, line: Line<Job>, job: Job): boolean {
    if (!line.waiting.delete(job)) return false
    this.#count(app, 'waiting', -1)
    this.#tidy(app, line)
    return true
  }

  #count(app: AppLines<Job>, what: 'waiting' | 'running', by: number): void {
    app[what] += by
    if (what === 'waiting') this.#waiting += by
    else this.#running += by
  }

  #appOf({ appId }: Reader): AppLines<Job> {
    let app = this.#apps.get(appId)
    if (app === undefined) {
      app = { appId, lines: new Map(), ready: new Set(), waiting: 0, running: 0 }
      this.#apps.set(appId, app)
    }
    return app
  }

  #lineOf(app: AppLines<Job>, { uid }: Reader): Line<Job> {
    // No uid is empty.
    const name = uid ?? ''
    let line = app.lines.get(name)
    if (line === undefined) {
      const { atOncePerUser, atOncePerKey } = this.#limits
      line = {
        name,
        atOnce: uid === undefined ? atOncePerKey : atOncePerUser,
        waiting: new Set(),
        running: 0,
        rests: 0,
      }
      app.lines.set(name, line)
    }
    return line
  }

  /** Puts an app and one of its readers where they belong after a change. */
  #tidy(app: AppLines<Job>, line: Line<Job>): void {
    keep(app.ready, line, line.waiting.size > 0 && line.running < line.atOnce && line.rests === 0)
    keep(this.#ready, app, app.ready.size > 0 && app.running < this.#limits.atOncePerApp)
    if (line.waiting.size === 0 && line.running === 0 && line.rests === 0) app.lines.delete(line.name)
    if (app.lines.size === 0) this.#apps.delete(app.appId)
  }
}

/** Whoever is in a set already keeps their place in it. */
function keep<Member>(set: Set<Member>, member: Member, isIn: boolean): void {
  if (isIn) set.add(member)
  else set.delete(member)
}
