import { apiKey } from '../../../../server/test/faults/support/service-process.ts'
import { createStage } from '../../../../server/test/faults/support/stage.ts'
import { type RequestOptions, send } from '../../../../server/test/support/world.ts'
import type { Place } from './people.ts'

/** A service as an operator runs it, that can be killed and comes back at another address. */
export interface Ground extends Place {
  get(path: string, options?: RequestOptions): ReturnType<typeof send>
  call(method: string, path: string, body?: unknown, options?: RequestOptions): ReturnType<typeof send>
  /** SIGKILL, and a new start. @returns the new address */
  restart(): Promise<string>
  close(): Promise<void>
}

export async function openGround(): Promise<Ground> {
  const stage = createStage()
  const dataDir = stage.makeFolder()
  const start = () => stage.start({ DATA_DIR: dataDir })
  let service = await start()
  let url = await service.ready
  const app = { name: 'parley' }
  const call: Ground['call'] = async (method, path, body, { as, token } = {}) => {
    try {
      return await send(url, method, path, body, {
        appid: app.name,
        ...(token === undefined ? { apikey: apiKey } : { authtoken: token }),
        ...(as !== undefined && { onbehalfof: as }),
      })
    } catch (error) {
      if (service.isRunning || service.isExpectedToEnd) throw error
      throw new Error(`the service has ended:\n${service.output()}`)
    }
  }
  return {
    app,
    get url() {
      return url
    },
    call,
    get: (path, options) => call('GET', path, undefined, options),
    post: (path, body, options) => call('POST', path, body, options),
    async restart() {
      await service.kill()
      service = await start()
      url = await service.ready
      return url
    },
    close: () => stage.clean(),
  }
}
