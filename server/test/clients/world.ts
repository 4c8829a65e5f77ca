import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { readConfig } from '../../src/config/index.ts'
import { loadTls } from '../../src/http/tls.ts'
import { type Service, startParley } from '../http/watched.ts'
import { createUsers, createWorld, type World } from '../support/world.ts'
import { FrontEnd } from './front-end.ts'

let service: Service
let folder: string

/** Serves TLS with a certificate that it made itself, for the tests of a file. */
export function serveTls(): void {
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'parley-clients-'))
    const environment = { TLS: 'self-signed' }
    const tls = await loadTls(readConfig(environment), folder)
    service = await startParley({ environment, ...(tls && { tls }) })
  })
  afterAll(async () => {
    await service?.parley.close()
    await rm(folder, { recursive: true, force: true })
  })
}

/** Host and port of the service that speaks TLS, as an override option of an SDK is given them. */
export function addressOfTls(): string {
  return new URL(service.url).host
}

/** A shop of its own, and what its front ends are given. */
export interface Shop {
  /** Its back end, with its key. What it does is not heard live: it comes by another process. */
  readonly world: World
  /** A tab in which somebody logs in, and is connected. */
  open(uid: string): Promise<FrontEnd>
  /** A tab in which somebody has logged in. */
  logIn(uid: string): Promise<FrontEnd>
}

export async function createShop(...uids: string[]): Promise<Shop> {
  const world = await createWorld()
  await createUsers(world, ...uids)
  const logIn = async (uid: string) => {
    const tab = new FrontEnd(addressOfTls(), world.app.name)
    await tab.logIn(uid, world.authKey)
    onTestFinished(() => tab.close())
    return tab
  }
  return { world, logIn, open: async (uid) => (await logIn(uid)).connect() }
}
