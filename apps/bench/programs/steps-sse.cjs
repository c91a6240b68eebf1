// The floor for a step: what anybody would write without a harness. Asks, answers every tool call, asks again until there is none.
"use strict"

const ask = async (messages) => {
  const response = await fetch(process.argv[2], {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", stream: true, messages })
  })
  const decoder = new TextDecoder()
  const calls = []
  let rest = ""
  for await (const bytes of response.body) {
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split("\n")
    rest = lines.pop()
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue
      calls.push(...(JSON.parse(line.slice(6)).choices[0]?.delta.tool_calls ?? []))
    }
  }
  return calls
}

const main = async () => {
  const messages = [{ role: "user", content: "count" }]
  for (;;) {
    const calls = await ask(messages)
    if (calls.length === 0) return
    messages.push({ role: "assistant", content: null, tool_calls: calls })
    for (const { id } of calls) messages.push({ role: "tool", tool_call_id: id, content: "there is no such tool" })
  }
}

void main()
