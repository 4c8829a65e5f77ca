import { expect, it } from 'vitest'
import { memoryOfMachine, sharedBuffers } from '../../../src/store/embedded/memory.ts'

const gigabyte = 1024 ** 3

it('The embedded PostgreSQL keeps a sixteenth of the memory, within limits', () => {
  expect([0.5, 2, 4, 8, 64].map((memory) => sharedBuffers(memory * gigabyte))).toEqual([
    '128MB',
    '128MB',
    '256MB',
    '512MB',
    '1024MB',
  ])
  expect(sharedBuffers(memoryOfMachine())).toMatch(/^\d+MB$/)
})
