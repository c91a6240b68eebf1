// The floor for streaming: what anybody would write without a harness. Prints the text deltas of one completion.
"use strict"

const main = async () => {
  const response = await fetch(process.argv[2], {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hi" }] })
  })
  const decoder = new TextDecoder()
  let rest = ""
  for await (const bytes of response.body) {
    rest += decoder.decode(bytes, { stream: true })
    const lines = rest.split("\n")
    rest = lines.pop()
    let text = ""
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue
      text += JSON.parse(line.slice(6)).choices[0]?.delta.content ?? ""
    }
    process.stdout.write(text)
  }
  process.stdout.write("\n")
}

void main()
