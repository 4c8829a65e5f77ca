import { expect, it, vi } from 'vitest'
import type { Log } from '../../src/log.ts'
import { watchForOthers } from '../../src/process/others.ts'
import { createOwnServices } from '../support/own-services.ts'
import { until } from '../support/until.ts'

it('a process without Redis warns when others use its database, and only then', async () => {
  const services = await createOwnServices()
  const warn = vi.fn()
  const debug = vi.fn()
  const log = { warn, debug } as unknown as Log
  const { parley } = await services.start()
  const looks = vi.spyOn(parley.context.database, 'query')
  const look = async () => {
    const before = looks.mock.settledResults.length
    const stop = watchForOthers(parley.context.database, log)
    await until(() => looks.mock.settledResults.length > before)
    stop()
  }
  await look()
  expect(warn).not.toHaveBeenCalled()
  const other = await services.start()
  await until(async () => {
    await look()
    return warn.mock.calls.length > 0
  })
  expect(warn.mock.calls[0]?.[0]).toContain('REDIS_URL is missing, but other processes use the same database')
  expect(debug).not.toHaveBeenCalled()
  looks.mockRestore()
  await other.parley.close()
  await services.close()
})
