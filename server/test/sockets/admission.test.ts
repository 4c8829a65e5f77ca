import { describe, expect, it } from 'vitest'
import { createAdmission } from '../../src/sockets/admission.ts'
import { until } from '../support/until.ts'

/** More than are ever let wait. */
const crowd = 1_000

describe('logins of sockets', () => {
  it('pass at once where few come', async () => {
    const admission = createAdmission(40)
    for (let i = 0; i < 5; i++) expect(await isSettledAtOnce(admission.enter())).toBe(true)
    expect(await isSettledAtOnce(admission.enter())).toBe(false)
  })

  it('pass one by one while the process is young, and more slowly while it is busy', async () => {
    const [idle, busy] = await Promise.all(
      [0, 1].map(async (load) => {
        const admission = createAdmission(40, () => load, 60_000, 60_000)
        let count = 0
        expect(await isSettledAtOnce(admission.enter())).toBe(true)
        expect(await isSettledAtOnce(admission.enter().then(() => void count++))).toBe(false)
        for (let i = 0; i < 5; i++) void admission.enter().then(() => count++)
        return () => count
      }),
    )
    await until(() => idle?.() === 6)
    expect(busy?.()).toBeLessThan(6)
    await until(() => busy?.() === 6)
  })

  it('are let in one after the other where many come, and refused where they would wait too long', async () => {
    const admission = createAdmission(40, () => 0, 500)
    const order: number[] = []
    const outcomes = await Promise.allSettled(
      Array.from({ length: crowd }, (_, i) => admission.enter().then(() => void order.push(i))),
    )
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(order.length).toBeGreaterThan(5)
    expect(refused.length).toBeGreaterThan(0)
    expect(order.length + refused.length).toBe(crowd)
    expect(refused.every(({ status, code }) => status === 503 && code === 'ERR_MISSION_FAILED')).toBe(true)
    await admission.enter()
  })

  it('are refused once nobody is let in any more, those who wait, too', async () => {
    const admission = createAdmission(40)
    const outcomes = Promise.allSettled(Array.from({ length: 50 }, () => admission.enter()))
    admission.close()
    const refused = (await outcomes).filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    await expect(admission.enter()).rejects.toMatchObject({ status: 503 })
  })

  it('are let in more slowly, and still let in, while the process is busy', async () => {
    const counts = await Promise.all(
      [0, 1].map(async (busy) => {
        const admission = createAdmission(400, () => busy)
        let count = 0
        // On a starved machine the last of them wait for too long.
        const refused = (error: { status: number }) => expect(error.status).toBe(503)
        for (let i = 0; i < 400; i++) void admission.enter().then(() => count++, refused)
        await until(() => count >= 100)
        return () => count
      }),
    )
    const [idle, busy] = counts.map((count) => count()) as [number, number]
    expect(busy).toBeGreaterThanOrEqual(100)
    expect(idle).toBeGreaterThan(busy)
  })
})

async function isSettledAtOnce(promise: Promise<void>): Promise<boolean> {
  let isSettled = false
  void promise.then(() => {
    isSettled = true
  })
  await Promise.resolve()
  await Promise.resolve()
  return isSettled
}
