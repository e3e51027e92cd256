// The API as a client sees it, over real files: what is listed, loaded, answered and refused.
#include "tb_backend/api/app.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/tb_backend/api/app_fixture.h"

namespace traceglass {
namespace {

using testing::AppTest;
using ::testing::HasSubstr;
using testing::small_trace;

TEST_F(AppTest, AnEmptyDirectorySaysWhatToDo) {
  const auto runs = json(ask("/api/runs"));
  EXPECT_TRUE(runs["runs"].empty());
  EXPECT_THAT(std::string(runs["message"]), HasSubstr("tensorboard_trace_handler"));
}

TEST_F(AppTest, RunsWorkersSpansAndStates) {
  logdir_.write("run/w.1700000000001.pt.trace.json", small_trace());
  logdir_.write("run/w.1700000000000.pt.trace.json", small_trace());
  logdir_.write("run/v.pt.trace.json.tmp");
  const auto runs = json(ask("/api/runs"));
  ASSERT_EQ(runs["runs"].size(), 1U);
  const auto& spans = runs["runs"][0]["workers"][0]["spans"];
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0]["span"], "1700000000000");
  EXPECT_EQ(spans[1]["index"], 2);
  EXPECT_EQ(spans[0]["state"], "new");
  EXPECT_EQ(runs["ignored"][0]["file"], "run/v.pt.trace.json.tmp");
  EXPECT_FALSE(runs.contains("message"));
  loaded("run/w.1700000000000.pt.trace.json");
  EXPECT_EQ(json(ask("/api/runs"))["runs"][0]["workers"][0]["spans"][0]["state"], "ready");
}

TEST_F(AppTest, ATraceFromLoadToViews) {
  logdir_.write("w.pt.trace.json", small_trace());
  const Reply first = ask("/api/traces/" + id_of("w.pt.trace.json") + "/meta");
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(json(first)["id"], id_of("w.pt.trace.json"));
  const std::string trace = loaded("w.pt.trace.json");
  const auto meta = json(ask(trace + "meta"));
  EXPECT_EQ(meta["events"], 5);
  EXPECT_EQ(meta["rank"], 3);
  EXPECT_EQ(meta["steps"][0]["name"], "ProfilerStep#4");
  ASSERT_EQ(meta["groups"].size(), 3U);
  EXPECT_EQ(meta["groups"][2]["section_label"], "GPU 0 · GPU X");
  for (const char* view : {"overview", "operators?group=shape", "kernels?group=launch", "memory",
                           "summary", "names", "overview?steps=0"}) {
    EXPECT_EQ(ask(trace + view).status, 200) << view;
  }
  EXPECT_EQ(json(ask(trace + "operators"))["rows"][0]["name"], "aten::mm");
  EXPECT_EQ(json(ask(trace + "operator?name=aten::mm"))["row"]["calls"], 1);
  EXPECT_EQ(ask(trace + "operator?name=none").status, 404);
}

TEST_F(AppTest, AHostSliceIsInTheStepThatItsThreadIsIn) {
  // Step 2 begins on the host while the device still works for step 1.
  logdir_.write("w.json", R"({"traceEvents": [
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":9,"tid":9,"ts":100,"dur":100},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":110,"dur":5,"args":{"correlation":1}},
    {"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":9,"tid":9,"ts":200,"dur":100},
    {"ph":"X","cat":"kernel","name":"kern","pid":0,"tid":7,"ts":220,"dur":50,"args":{"correlation":1}}]})");
  const std::string trace = loaded("w.json");
  const auto step_of = [&](const std::string& name) {
    const auto hit = json(ask(trace + "search?q=" + name))["hit"];
    return json(ask(trace + "events/" + hit["id"].dump()))["step"];
  };
  EXPECT_EQ(step_of("ProfilerStep#2"), "ProfilerStep#2");
  EXPECT_EQ(step_of("kern"), "ProfilerStep#1");
}

TEST_F(AppTest, AnEventWithAllThatBelongsToIt) {
  logdir_.write("w.json", small_trace());
  const std::string trace = loaded("w.json");
  const auto hit = json(ask(trace + "search?q=GEMM"))["hit"];
  const auto kernel = json(ask(trace + "events/" + hit["id"].dump()));
  EXPECT_EQ(kernel["kind"], "kernel");
  EXPECT_EQ(kernel["launch"]["name"], "cudaLaunchKernel");
  EXPECT_EQ(kernel["owner"]["name"], "aten::mm");
  EXPECT_EQ(kernel["step"], "ProfilerStep#4");
  EXPECT_EQ(kernel["stack"][0], "train.py(1): step");
  EXPECT_EQ(kernel["flows"][0]["type"], "launch");
  EXPECT_EQ(kernel["same_name"]["count"], 1);
  const auto op = json(ask(trace + "events/" + kernel["owner"]["id"].dump()));
  EXPECT_EQ(op["launched_total"], 1);
  EXPECT_EQ(op["parents"][0]["name"], "ProfilerStep#4");
  EXPECT_EQ(op["args"][0]["value"][1][0], 3);
  EXPECT_EQ(op["args"][1]["value"], "9007199254740999");  // would lose digits as a number
  const auto next =
      json(ask(trace + "events/" + kernel["launch"]["id"].dump() + "/neighbour?dir=flow_out"));
  EXPECT_EQ(next["event"]["name"], "gemm");
  EXPECT_TRUE(json(ask(trace + "events/0/neighbour?dir=prev"))["event"].is_null());
}

TEST_F(AppTest, TilesBinaryAndJsonSayTheSame) {
  logdir_.write("w.json", small_trace());
  const std::string trace = loaded("w.json");
  const std::string gen = json(ask(trace + "meta"))["generation"];
  const std::string query = "tiles?k=7&i=0-1&g=0,2&gen=" + gen;
  const Reply binary = ask(trace + query);
  EXPECT_EQ(binary.type, "application/octet-stream");
  EXPECT_THAT(header(binary, "Cache-Control"), HasSubstr("immutable"));
  const auto tiles = json(ask(trace + query + "&format=json"));
  ASSERT_EQ(tiles.size(), 4U);
  std::size_t at = 0;
  for (const auto& tile : tiles) {
    std::uint32_t word[8];
    std::memcpy(word, binary.body->data() + at, sizeof word);
    EXPECT_EQ(word[4], tile["group"]);
    ASSERT_EQ(word[5], tile["start"].size());
    std::uint32_t ids = 0;
    std::memcpy(&ids, binary.body->data() + at + 32 + 8, 4);
    for (std::uint32_t j = 0; j < word[5]; ++j) {
      std::uint32_t id = 0;
      std::memcpy(&id, binary.body->data() + at + ids + 4 * j, 4);
      EXPECT_EQ(id, tile["id"][j]);
    }
    at += word[7];
  }
  EXPECT_EQ(at, binary.body->size());
}

TEST_F(AppTest, AnswersAreKeptByTheirTag) {
  logdir_.write("w.json", small_trace());
  const std::string trace = loaded("w.json");
  for (const std::string& path : {std::string("/api/runs"), trace + "meta", trace + "overview"}) {
    const Reply first = ask(path);
    const std::string tag = header(first, "ETag");
    ASSERT_FALSE(tag.empty()) << path;
    const Reply again = ask(path, {{"If-None-Match", tag}});
    EXPECT_EQ(again.status, 304) << path;
    EXPECT_TRUE(again.body->empty());
    EXPECT_EQ(again.type, "application/json");
  }
  EXPECT_NE(header(ask(trace + "operators"), "ETag"),
            header(ask(trace + "operators?group=shape"), "ETag"));
}

TEST_F(AppTest, AReplacedFileIsSeenAndOldTilesAreRefused) {
  logdir_.write("w.json", small_trace("first"));
  const std::string trace = loaded("w.json");
  const std::string old = json(ask(trace + "meta"))["generation"];
  const auto other = logdir_.write("new.tmp", small_trace("second"));
  std::filesystem::rename(other, logdir_.path() / "w.json");
  EXPECT_EQ(loaded("w.json"), trace);
  EXPECT_EQ(json(ask(trace + "operators"))["rows"][0]["name"], "second");
  const Reply stale = ask(trace + "tiles?k=7&i=0&g=0&gen=" + old);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(json(stale)["code"], "generation");
  std::filesystem::remove(logdir_.path() / "w.json");
  EXPECT_EQ(ask(trace + "meta").status, 404);
}

TEST_F(AppTest, OneBadFileIsNamedAndHidesNoOther) {
  logdir_.write("bad.json", R"({"nodes": [], "schema": "1.0.1"})");
  logdir_.write("cut.json", small_trace().substr(0, 700));
  logdir_.write("empty.json", "");
  logdir_.write("good.json", small_trace());
  const Reply bad = ask(loaded("bad.json") + "meta");
  EXPECT_EQ(bad.status, 422);
  EXPECT_EQ(bad.type, "application/problem+json");
  EXPECT_EQ(json(bad)["code"], "not_a_trace");
  EXPECT_EQ(json(bad)["file"], "bad.json");
  EXPECT_TRUE(json(bad).contains("offset"));
  EXPECT_EQ(json(ask(loaded("bad.json") + "status"))["error"]["code"], "not_a_trace");
  EXPECT_EQ(json(ask(loaded("empty.json") + "meta"))["code"], "empty");
  EXPECT_EQ(json(ask(loaded("cut.json") + "meta"))["trust"]["grade"], "D");
  EXPECT_EQ(ask(loaded("good.json") + "meta").status, 200);
}

TEST_F(AppTest, WrongParametersAreNamed) {
  logdir_.write("w.json", small_trace());
  const std::string trace = loaded("w.json");
  const std::string gen = json(ask(trace + "meta"))["generation"];
  const std::pair<std::string, const char*> cases[] = {
      {"tiles?i=0&g=0&gen=" + gen, "k"},
      {"tiles?k=53&i=0&g=0&gen=" + gen, "k"},
      {"tiles?k=-1&i=0&g=0&gen=" + gen, "k"},
      {"tiles?k=1&i=x&g=0&gen=" + gen, "i"},
      {"tiles?k=1&i=0&g=99&gen=" + gen, "g"},
      {"tiles?k=1&i=0&g=0", "gen"},
      {"tiles?k=1&i=0&g=0&format=xml&gen=" + gen, "format"},
      {"tiles?k=0&i=-9223372036854775808-9223372036854775807&g=0&gen=" + gen, "tiles"},
      {"tiles?k=0&i=0-4096&g=0&gen=" + gen, "tiles"},
      {"counters?t0=0&t1=1&n=0", "n"},
      {"counters?t0=1e9&t1=1", "t0"},
      {"area?t0=0&t1=99999999999999999999&g=0", "t1"},
      {"area?t0=0&t1=9&g=0&by=color", "by"},
      {"search?q=", "q"},
      {"search?q=a&after=5", "after"},
      {"search?q=a&dir=up", "dir"},
      {"events/0/neighbour", "dir"},
      {"overview?steps=1", "steps"},
      {"overview?steps=-1", "steps"},
      {"operators?kind=kernel", "kind"},
      {"memory?points=1", "points"},
      {"memory/blocks?type=cuda&device=9999999999", "device"},
      {"names?from=-1", "from"},
  };
  for (const auto& [query, parameter] : cases) {
    const Reply reply = ask(trace + query);
    EXPECT_EQ(reply.status, 422) << query;
    EXPECT_EQ(reply.type, "application/problem+json") << query;
    EXPECT_THAT(std::string(json(reply)["detail"]), HasSubstr(parameter)) << query;
  }
  for (const char* path : {"events/5", "events/-1", "events/x", "events/99999999999999999999",
                           "events", "nothing", ""}) {
    EXPECT_EQ(ask(trace + path).status, 404) << path;
  }
}

TEST_F(AppTest, ExtremeTilesAreEmptyNotWrong) {
  logdir_.write("w.json", small_trace());
  const std::string trace = loaded("w.json");
  const std::string gen = json(ask(trace + "meta"))["generation"];
  for (const char* i : {"9223372036854775807", "-9223372036854775808", "100000"}) {
    const auto tiles = json(ask(trace + "tiles?format=json&k=52&g=0&i=" + i + "&gen=" + gen));
    EXPECT_EQ(tiles[0]["start"].size(), 0U) << i;
  }
  EXPECT_EQ(ask(trace + "area?t0=-9223372036854775808&t1=9223372036854775807&g=0").status, 200);
  EXPECT_EQ(ask(trace + "counters?t0=-9223372036854775808&t1=9223372036854775807").status, 200);
  EXPECT_EQ(json(ask(trace + "area?t0=5&t1=1&g=0"))["slices"], 0);
}

TEST_F(AppTest, HostileTextIsValidJson) {
  logdir_.write("\xff\xfe run/w\n\"x\".json",
                small_trace("<script>\\u0000\\ud800\x80\xff aten</script>"));
  const auto runs = json(ask("/api/runs"));  // would throw if it were no JSON
  const std::string base =
      loaded(runs["runs"][0]["workers"][0]["spans"][0]["file"].get<std::string>());
  for (const char* view : {"meta", "operators", "names", "search?q=aten", "events/0", "summary"}) {
    EXPECT_NO_THROW(json(ask(base + view))) << view;
  }
}

TEST_F(AppTest, NoRequestPathReachesTheFileSystem) {
  web_.write("index.html", "<!doctype html>page");
  for (const char* path :
       {"/../../etc/passwd", "/..", "/static/../../../etc/passwd", "//etc/passwd", "/.", "/%2e%2e",
        "/index.html/..", "/static", "/index.html/", "/api/traces/../../../etc/passwd/meta"}) {
    const Reply reply = ask(path);
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_EQ(reply.type, "application/problem+json") << path;
  }
  EXPECT_EQ(ask(std::string("/index.html\0.js", 15)).status, 404);
}

TEST_F(AppTest, ThePageAndItsFiles) {
  web_.write("index.html", "<!doctype html>page");
  web_.write("static/app-1a2b.js", "export {};");
  const Reply page = ask("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(*page.body, "<!doctype html>page");
  EXPECT_THAT(header(page, "Content-Security-Policy"), HasSubstr("default-src 'self'"));
  EXPECT_EQ(header(page, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(header(page, "Cache-Control"), "no-cache");
  EXPECT_EQ(ask("/", {{"If-None-Match", header(page, "ETag")}}).status, 304);
  const Reply script = ask("/static/app-1a2b.js");
  EXPECT_THAT(script.type, HasSubstr("text/javascript"));
  EXPECT_THAT(header(script, "Cache-Control"), HasSubstr("immutable"));
  EXPECT_EQ(ask("/static/gone.js").status, 404);
}

TEST_F(AppTest, WithoutAPageItSaysHowToGetOne) {
  const Reply reply = ask("/");
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(*reply.body, HasSubstr("npm run build"));
  EXPECT_EQ(ask("/api/runs").status, 200);
}

TEST_F(AppTest, ARebuiltPageIsServedWithoutARestart) {
  web_.write("index.html", "old");
  EXPECT_EQ(*ask("/").body, "old");
  web_.write("index.html", "new");
  std::filesystem::last_write_time(
      web_.path() / "index.html",
      std::filesystem::last_write_time(web_.path() / "index.html") + std::chrono::seconds(5));
  EXPECT_EQ(*ask("/").body, "new");
}

TEST_F(AppTest, MethodsOtherThanGetAreRefused) {
  const std::pair<std::string, std::string> write = {"X-Traceglass-Write", "1"};
  const std::pair<std::string, std::string> type = {"Content-Type", "application/json"};
  const Reply post = ask("/api/runs", {write, type}, "POST");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(ask("/", {write}, "POST").status, 405);
  EXPECT_EQ(ask("/api/runs", {write}, "POST").status, 415);
  EXPECT_EQ(json(ask("/api/runs", {type}, "POST"))["code"], "write_header");
  EXPECT_EQ(header(post, "Allow"), "GET, HEAD");
  EXPECT_EQ(ask("/api/runs", {{"Origin", "http://evil.example"}}, "POST").status, 403);
}

class PrefixTest : public AppTest {
 protected:
  AppOptions options() const override {
    AppOptions o = AppTest::options();
    o.path_prefix = "/a/b";
    return o;
  }
};

TEST_F(PrefixTest, EverythingIsThereUnderEveryMount) {
  web_.write("index.html", "page");
  for (const std::string mount :
       {"", "/a/b", "/data/plugin/traceglass", "/a/b/data/plugin/traceglass"}) {
    EXPECT_EQ(*ask(mount + "/").body, "page") << mount;
    EXPECT_EQ(ask(mount + "/api/runs").status, 200) << mount;
  }
  EXPECT_EQ(ask("/a/bc/").status, 404);
  EXPECT_EQ(ask("/a/").status, 404);
  const Reply bare = ask("/a/b?x=1");
  EXPECT_EQ(bare.status, 308);
  EXPECT_EQ(header(bare, "Location"), "./b/?x=1");
}

TEST_F(PrefixTest, StandsInForATensorBoardHost) {
  const auto listing = json(ask("/a/b/data/plugins_listing"));
  EXPECT_EQ(listing["traceglass"]["tab_name"], "PyTorch Profiler");
  EXPECT_EQ(listing["traceglass"]["loading_mechanism"]["module_path"],
            "/a/b/data/plugin/traceglass/index.js");
  EXPECT_THAT(*ask("/a/b/data/plugin_entry.html?name=traceglass").body,
              HasSubstr("<base href=\"plugin/traceglass/\">"));
  EXPECT_EQ(ask("/data/plugin_entry.js").status, 200);
}

class TokenTest : public AppTest {
 protected:
  AppOptions options() const override {
    AppOptions o = AppTest::options();
    o.access.tokens = {{"s3cret", true}, {"reader", false}};
    return o;
  }
};

TEST_F(TokenTest, ATokenInTheAddressBecomesACookie) {
  web_.write("index.html", "page");
  EXPECT_EQ(ask("/").status, 200);  // holds nothing of anybody's, and asks for a token
  EXPECT_EQ(ask("/api/runs").status, 401);
  const Reply reply = ask("/?token=s3cret");
  EXPECT_EQ(reply.status, 303);
  EXPECT_EQ(header(reply, "Location"), "./");
  EXPECT_EQ(header(reply, "Set-Cookie"),
            "traceglass_token=s3cret; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(ask("/api/runs", {{"Cookie", "traceglass_token=s3cret"}}).status, 200);
  EXPECT_EQ(ask("/?token=wrong").status, 401);
  EXPECT_EQ(ask("/api/runs?token=s3cret").status, 200);
}

TEST_F(TokenTest, GuessingIsSlowed) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(ask("/api/runs", {{"X-Traceglass-Token", "wrong"}}).status, 401);
  }
  const Reply slowed = ask("/api/runs", {{"X-Traceglass-Token", "wrong"}});
  EXPECT_EQ(slowed.status, 429);
  EXPECT_EQ(header(slowed, "Retry-After"), "2");
  // Nor is a right one looked at: the answer would tell it.
  EXPECT_EQ(ask("/api/runs", {{"X-Traceglass-Token", "s3cret"}}).status, 429);
  EXPECT_EQ(ask("/?token=s3cret").status, 429);
}

TEST_F(TokenTest, AReaderMayNotWrite) {
  const auto write = [&](const char* token) {
    Call call;
    call.method = "POST";
    call.path = "/api/notes";
    call.body = R"({"text":"x","author":"Ann","anchor":{"kind":"run","run":"."}})";
    call.headers = {{"Host", "127.0.0.1:6006"},
                    {"X-Traceglass-Write", "1"},
                    {"Content-Type", "application/json"},
                    {"X-Traceglass-Token", token}};
    return app().handle(call);
  };
  EXPECT_EQ(json(write("reader"))["code"], "may_not_write");
  EXPECT_EQ(json(ask("/api/session", {{"X-Traceglass-Token", "reader"}}))["may_write"], false);
  EXPECT_EQ(json(ask("/api/notes", {{"X-Traceglass-Token", "reader"}}))["total"], 0);
  EXPECT_EQ(write("s3cret").status, 201);
  EXPECT_EQ(json(ask("/api/notes", {{"X-Traceglass-Token", "reader"}}))["total"], 1);
}

}  // namespace
}  // namespace traceglass
